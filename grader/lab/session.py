"""From the words of a command line to the record of all experiments.

What needs no torch is settled first, so that a wrong word costs no seconds, and the zygotes import their torch while
this process imports its own.
"""

import importlib.util
import os
import platform
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.assignment import Assignment, Rules
from grader.course import Course
from grader.fault import Fault
from grader.header import make_header
from grader.lab.figures import Lab, LabAssignment, Machine, Subject
from grader.lab.sizes import QUICK, Sizes
from grader.launch import ONE_THREAD, ForkLauncher, Launcher, SpawnLauncher, Zygote, can_fork
from grader.report import Isolation, RunHeader
from grader.selfcheck.session import find_subject
from grader.stage import Staged, stage
from grader.terminal import Screen
from grader.worker.sandbox.privileges import hide_memory

if TYPE_CHECKING:
    from grader.isolation import Kept

#: What draws the plots, as it is imported and as it is installed.
_PLOTS = "matplotlib"
_NOT_ISOLATED = 3


class LabError(Fault):
    """The experiments cannot be made; the text says where, what was found, what to do."""

    def __init__(self, text: str, exit_code: int = Fault.exit_code) -> None:
        super().__init__(text)
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line asks for."""

    assignment: str
    folder: Path
    course: Path | None
    seed: int | None
    is_quick: bool
    call_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What is experimented on, and how."""

    assignment: Assignment
    #: The class, the file it stands in, and that file's part.
    callable: str
    file: str
    part: str
    staged: Staged
    header: RunHeader
    sizes: Sizes
    is_quick: bool


def must_have_plots() -> None:
    """Raises LabError where nothing can draw plots."""
    if importlib.util.find_spec(_PLOTS) is None:
        raise LabError(
            f"grade lab draws its plots with {_PLOTS}, which is not installed here; install it: "
            f"python -m pip install {_PLOTS}"
        )


def settle(options: Options) -> Settled:
    """Find the module.

    Raises:
        LabError: the assignment has no experiments, or the file with the module is not there.
        FindError, CourseError, AssignmentError, HandoutError, IntakeError: what else is in the way.
    """
    subject = find_subject(options.folder, options.assignment, options.course)
    assignment = subject.assignment
    if assignment.lab is None:
        course = subject.source
        known = [name for name in course.names if course.assignment(name).lab] if isinstance(course, Course) else []
        there = f"experiments belong to: {', '.join(known)}" if known else "no assignment here has any"
        raise LabError(f"{assignment.where}: {assignment.name} has no section [lab], and so no experiments; {there}")
    part = assignment.part_of(assignment.lab.callable)
    staged = stage(subject.found, assignment)
    if part.file not in staged.sources.texts:
        reason = staged.sources.unreadable.get(part.file, "")
        what = f"{part.file} cannot be read: {reason}" if reason else f"{part.file} is not in it"
        raise LabError(f"{options.folder}: {what}; the experiments need {assignment.lab.callable} of that file")
    seed = options.seed if options.seed is not None else secrets.randbits(32)
    digest = subject.header.assignment.digest
    return Settled(
        assignment=assignment,
        callable=assignment.lab.callable,
        file=part.file,
        part=part.name,
        staged=staged,
        header=make_header(assignment, seed, options.call_s or assignment.limits.call_s, digest),
        sizes=QUICK if options.is_quick else Sizes(),
        is_quick=options.is_quick,
    )


def measure(settled: Settled, *, is_any_isolation_enough: bool, screen: Screen) -> Lab:
    """Make the experiments.

    Raises:
        LabError: isolation is less than was asked for.
        LaunchError, OpponentError: faults of the grader, or of its machine.
    """
    hide_memory()  # there may be tokens in its environment
    rules = settled.assignment.rules
    with _zygote(rules) as own, _zygote(Rules()) as other:  # PyTorch's module is what the rules may forbid
        os.environ.update(ONE_THREAD)  # read when numpy and torch are imported
        from grader.isolation import kept, probe
        from grader.lab.experiments import make_all

        launcher = _launcher(own, rules)
        layers = own.layers if own else {}
        header = _isolated(settled.header, kept(probe(launcher, layers), layers), is_any_isolation_enough)
        screen.isolation(header.grader)
        with screen.steps(f"Experimenting with {settled.callable}, seed {header.seed}") as tell:
            made = make_all(settled, launcher, _launcher(other, Rules()), tell)
    return Lab(
        created=header.created,
        seed=header.seed,
        is_quick=settled.is_quick,
        timeout_s=header.timeout_s,
        assignment=LabAssignment(
            name=header.assignment.name,
            title=header.assignment.title,
            digest=header.assignment.digest,
            callable=settled.callable,
            file=settled.file,
        ),
        grader=header.grader,
        machine=_machine(),
        subject=Subject(id=settled.staged.id, files=settled.staged.files, notes=settled.staged.notes),
        scaling=made.scaling,
        future=made.future,
        heads=made.heads,
        against=made.against,
    )


@contextmanager
def _zygote(rules: Rules) -> Iterator[Zygote | None]:
    """A zygote for one worker at a time; None where a warm process cannot be forked."""
    if not can_fork():
        yield None
        return
    with Zygote(1, rules) as zygote:
        yield zygote


def _launcher(zygote: Zygote | None, rules: Rules) -> Launcher:
    if zygote is None:
        return SpawnLauncher(rules)
    zygote.wait()
    return ForkLauncher(zygote.controls[0])


def _isolated(header: RunHeader, found: "Kept", is_any_enough: bool) -> RunHeader:
    """The header, with the isolation that was found."""
    if found.level is not Isolation.STRONG and not is_any_enough:
        raise LabError(found.refusal, _NOT_ISOLATED)
    grader = header.grader.model_copy(update={"isolation": found.level, "isolation_detail": found.detail})
    return header.model_copy(update={"grader": grader})


def _machine() -> Machine:
    can_tell = hasattr(os, "sched_getaffinity")
    return Machine(
        system=f"{platform.system()} {platform.machine()}",
        processors=len(os.sched_getaffinity(0)) if can_tell else os.cpu_count() or 1,
        worker_threads=int(ONE_THREAD["OMP_NUM_THREADS"]),
    )
