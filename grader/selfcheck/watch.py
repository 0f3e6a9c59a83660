"""Checks whenever something was saved, until Ctrl-C.

The files are looked at ten times a second, rather than waiting for the system's word of a change: editors replace
files, and shared and mounted folders send no word.
"""

import time
from collections.abc import Callable, Iterator
from datetime import date

from grader.selfcheck.desk import Checked, Desk
from grader.stage import Staged

#: Seconds between two looks: what a person does not notice, and a processor neither.
_PAUSE_S = 0.1


def checks_of(desk: Desk, today: Callable[[], date]) -> Iterator[Checked]:
    """What is found at once, and after every change. Does not end by itself.

    Raises:
        LaunchError, ExamineError, IntakeError: faults of the grader, or of its machine.
    """
    staged = desk.read()
    while True:
        yield desk.check(staged, today())
        staged = _changed(desk, staged)


def _changed(desk: Desk, known: Staged) -> Staged:
    """The files once they are others than those known, and nobody is writing them: twice the same."""
    before = known
    while True:
        time.sleep(_PAUSE_S)
        now = desk.read()
        if _same(now, before) and not _same(now, known):
            return now
        before = now


def _same(one: Staged, other: Staged) -> bool:
    return one.digest == other.digest and one.sources == other.sources
