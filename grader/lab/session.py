"""All four experiments, with workers to make them in.

The zygotes import their torch while this process imports its own. PyTorch's module is what an assignment may forbid, so
that it has a zygote of its own, without rules.
"""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from grader.assignment import Rules
from grader.lab.figures import Lab, LabAssignment, Machine, Subject
from grader.lab.settled import LabError, Settled
from grader.launch import ONE_THREAD, ForkLauncher, Launcher, SpawnLauncher, Zygote, can_fork
from grader.report import Isolation, RunHeader
from grader.terminal import Screen
from grader.worker.sandbox.privileges import hide_memory

if TYPE_CHECKING:
    from grader.isolation import Kept

_NOT_ISOLATED = 3


def measure(settled: Settled, *, is_any_isolation_enough: bool, screen: Screen) -> Lab:
    """Make the experiments.

    Raises:
        LabError: isolation is less than was asked for.
        LaunchError, OpponentError: faults of the grader, or of its machine.
    """
    hide_memory()  # there may be tokens in its environment
    rules = settled.assignment.rules
    with _zygote(rules) as own, _zygote(Rules()) as other:
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
