"""`overrides.csv`: points that staff decided, by student, for a check or for the whole submission.

Read before anything is graded, and matched with the submissions by whatever name staff know a student by. A name that
is nobody's is no error: the submission may come later. What it does to a score is the business of `adjust`.
"""

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import NoReturn

from grader.fault import Fault
from grader.people.called import Called, Handed
from grader.sheet import Line, quoted, read_sheet
from grader.show import for_terminal

COLUMNS = ("student", "check", "points", "reason")
#: Stands in the column `check` for all points of a submission.
TOTAL = "total"
#: Points as people write them; two places at most, so that 1,000 is not taken for 1.
_POINTS = re.compile(r"\d{1,7}(?:[.,]\d{1,2})?", re.ASCII)
_MOST_NEAR = 3


class OverrideError(Fault):
    """The overrides cannot be used; the text says in which line, what was found and what was wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """What staff decided: a line of the table."""

    #: File and line.
    where: str
    #: The student, as staff call them.
    student: str
    #: Id of the check; None for the whole submission.
    check: str | None
    points: Decimal
    reason: str

    @property
    def what(self) -> str:
        """What it decides, as the table says it."""
        return self.check or TOTAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """Overrides by the id of the submission they are for."""

    by_id: Mapping[str, tuple[Override, ...]]
    #: What staff should know: lines that are for nobody, or for several at once.
    remarks: tuple[str, ...] = ()


def read_overrides(file: Path, max_score: Decimal) -> tuple[Override, ...]:
    """What staff decided, in the order of the file.

    Args:
        file: the table.
        max_score: points of the whole assignment.

    Raises:
        SheetError: it is no table with the columns `student`, `check`, `points` and `reason`.
        OverrideError: a cell is empty, points are no number or out of range, or two lines decide the same.
    """
    overrides = tuple(_read(line) for line in read_sheet(file, COLUMNS))
    for one in overrides:
        if one.check is None:
            _must_be_within(one, max_score)
    _must_differ((one.student, one) for one in overrides)
    return overrides


def must_know_checks(overrides: Iterable[Override], checks: Mapping[str, Decimal]) -> None:
    """Raise OverrideError where a line is about a check that is none, or gives more points than there are for it.

    `checks`: points by id.
    """
    for one in overrides:
        if one.check is not None and one.check not in checks:
            close = difflib.get_close_matches(one.check, checks, n=_MOST_NEAR, cutoff=0.7)
            near = f"did you mean {' or '.join(close)}?" if close else f"the checks are {', '.join(checks)}"
            raise OverrideError(
                f"{one.where}: no check is called {quoted(one.check)}; wanted its id or {TOTAL!r}; {near}"
            )
        if one.check is not None:
            _must_be_within(one, checks[one.check])


def match_overrides(overrides: Iterable[Override], submissions: Sequence[Handed]) -> Matched:
    """Find the submission of every line, by id, e-mail, login, number on the platform, or name.

    Capitals and blanks do not count, nor does the order that a comma turns round. An id goes before all others, a
    name for people comes last.

    Raises:
        OverrideError: a line fits several submissions, or two lines decide the same.
    """
    called = Called(submissions)
    by_id: dict[str, list[Override]] = defaultdict(list)
    remarks = []
    for one in overrides:
        ids = called.find(one.student)
        if len(ids) > 1:
            _fail(one, f"{quoted(one.student)} fits several submissions ({_listed(ids)}); write the id of one of them")
        if ids:
            by_id[ids[0]].append(one)
        else:
            near = _near(called.near(one.student, _MOST_NEAR))
            remarks.append(f"{one.where}: no submission is of {quoted(one.student)}{near}; left out")
    _must_differ((id, one) for id, of_one in by_id.items() for one in of_one)
    for submission in submissions:
        if len(submission.people) > 1 and submission.id in by_id:
            where = by_id[submission.id][0].where
            remarks.append(
                f"{where}: {for_terminal(submission.id)} is the work of {len(submission.people)} people, all get it"
            )
    return Matched(by_id={id: tuple(of_one) for id, of_one in by_id.items()}, remarks=tuple(remarks))


def _read(line: Line) -> Override:
    for name in COLUMNS:
        if not line.cells[name]:
            what = "why, for the student to read" if name == "reason" else "one"
            raise OverrideError(f"{line.where}: no {name}; wanted {what}")
    check, points = line.cells["check"], line.cells["points"]
    if not _POINTS.fullmatch(points):
        raise OverrideError(
            f"{line.where}: {quoted(points)} is no number of points; wanted one from 0 on, with two decimals at most, "
            "such as 2.5"
        )
    return Override(
        where=line.where,
        student=line.cells["student"],
        check=None if check.lower() == TOTAL else check,
        points=Decimal(points.replace(",", ".")),
        reason=" ".join(line.cells["reason"].split()),
    )


def _must_be_within(override: Override, most: Decimal) -> None:
    if override.points > most:
        _fail(override, f"{override.points} points for {override.what}, where there are {most:f}; wanted 0 to {most:f}")


def _must_differ(named: Iterable[tuple[str, Override]]) -> None:
    """Raise OverrideError where two lines decide the same for the same student."""
    seen: dict[tuple[str, str], Override] = {}
    for student, one in named:
        other = seen.setdefault((student, one.what), one)
        if other is not one:
            _fail(
                one,
                f"{one.what} of {quoted(one.student)} is decided already in{other.where.rpartition(',')[2]}; leave one",
            )


def _near(ids: Sequence[str]) -> str:
    return f" (near: {_listed(ids)})" if ids else ""


def _listed(ids: Iterable[str]) -> str:
    return ", ".join(map(for_terminal, ids))


def _fail(override: Override, text: str) -> NoReturn:
    raise OverrideError(f"{override.where}: {text}")
