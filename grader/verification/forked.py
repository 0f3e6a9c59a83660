"""Many small jobs of one kind, shared out among forks of this process, which has everything they need."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import TypeVar

from grader import interrupt

Job = TypeVar("Job")
Result = TypeVar("Result")


class ForkFailed(Exception):
    """A fork ended before its jobs were done."""


def shared_out(jobs: Sequence[Job], work: Callable[[Job], Result], processes: int) -> Iterator[Result]:
    """The results of all jobs, in their order, as they come. Results travel pickled: plain records only.

    Raises:
        ForkFailed: a fork died, or a job raised; its traceback is on standard error.
    """
    context = multiprocessing.get_context("fork")
    count = max(1, min(processes, len(jobs)))
    pipes = [context.Pipe(duplex=False) for _ in range(count)]
    forks = [
        context.Process(target=_do, args=(jobs[number::count], work, theirs), daemon=True)
        for number, (_, theirs) in enumerate(pipes)
    ]
    for fork, (_, theirs) in zip(forks, pipes, strict=True):
        fork.start()
        theirs.close()
    try:
        for number in range(len(jobs)):
            interrupt.raise_if_stopped()
            try:
                yield pipes[number % count][0].recv()
            except EOFError:
                raise ForkFailed(f"job {number + 1} of {len(jobs)} was not finished; see above") from None
    finally:
        for fork in forks:
            fork.kill()
            fork.join()


def _do(jobs: Sequence[Job], work: Callable[[Job], Result], connection: Connection) -> None:
    for job in jobs:
        connection.send(work(job))
