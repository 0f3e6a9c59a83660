"""Many small jobs of one kind, shared out among forks of this process, which has everything they need."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import TypeVar

from grader import interrupt
from grader.fault import Fault

Job = TypeVar("Job")
Result = TypeVar("Result")


class ForkFailed(Fault):
    """A fork ended before its jobs were done."""


def shared_out(jobs: Sequence[Job], work: Callable[[Job], Result], processes: int) -> Iterator[Result]:
    """The results of all jobs, in their order, as they come. Results travel pickled: plain records only.

    Raises:
        ForkFailed: a fork died, or a job raised; its traceback is on standard error.
    """
    context = multiprocessing.get_context("fork")
    count = max(1, min(processes, len(jobs)))
    forks: list[multiprocessing.process.BaseProcess] = []
    pipes: list[Connection] = []
    try:
        for number in range(count):
            # Each pipe is made after the forks before it, which would keep it open when its own fork has died.
            ours, theirs = context.Pipe(duplex=False)
            pipes.append(ours)
            forks.append(context.Process(target=_do, args=(jobs[number::count], work, theirs), daemon=True))
            with interrupt.held():
                forks[-1].start()
            theirs.close()
        for number in range(len(jobs)):
            interrupt.raise_if_stopped()
            try:
                yield pipes[number % count].recv()
            except EOFError:
                raise ForkFailed(f"job {number + 1} of {len(jobs)} was not finished; see above") from None
    finally:
        for fork in forks:
            if fork.pid is not None:
                fork.kill()
                fork.join()
        for pipe in pipes:
            pipe.close()


def _do(jobs: Sequence[Job], work: Callable[[Job], Result], connection: Connection) -> None:
    interrupt.be_child()
    for job in jobs:
        connection.send(work(job))
