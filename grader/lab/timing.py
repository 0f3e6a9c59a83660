"""Seconds of calls: several repetitions, taken in turn, and the way to the worker and back taken off.

The clock is on this side, since a worker's word is no measure. What it sees is the call and its way: writing tensors,
reading them, a switch of processes. An empty call with tensors of the same shapes shows what that takes.
"""

from collections.abc import Iterable, Sequence
from statistics import median, quantiles

from grader.lab.bench import Bench, Question, Step
from grader.lab.figures import Timed

Timable = tuple[Bench, Question]


def in_turn(timables: Sequence[Timable], repetitions: int, step: Step) -> list[list[float]]:
    """Seconds of each, by repetition. One round goes before that does not count. Raises Unanswered.

    They take turns, so that a slow moment of the machine meets all of them.
    """
    seconds: list[list[float]] = [[] for _ in timables]
    for number in range(repetitions + 1):
        for (bench, question), kept in zip(timables, seconds, strict=True):
            taken_s = bench.seconds(question)
            if number:
                kept.append(taken_s)
        step()
    return seconds


def timed(seconds: Iterable[float], way: Iterable[float]) -> Timed:
    """The record of one call's repetitions, and of those of its way."""
    taken, ways = list(seconds), list(way)
    low, middle, high = quantiles([one - other for one, other in zip(taken, ways, strict=True)], method="inclusive")
    return Timed(
        call_s=median(taken),
        way_s=median(ways),
        net_s=_above_0(middle),
        net_low_s=_above_0(low),
        net_high_s=_above_0(high),
    )


def _above_0(seconds: float) -> float | None:
    return seconds if seconds > 0 else None
