"""What a command line asks for, settled as far as no torch is needed: a wrong word costs no seconds."""

import importlib.util
import secrets
from dataclasses import dataclass
from pathlib import Path

from grader.assignment import Assignment
from grader.course import Course
from grader.fault import Fault
from grader.header import make_header
from grader.lab.sizes import QUICK, Sizes
from grader.report import RunHeader
from grader.selfcheck.session import find_subject
from grader.stage import Staged, stage

#: What draws the plots, as it is imported and as it is installed.
_PLOTS = "matplotlib"


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
