"""What the reports on a whole class need of each submission, gathered in one pass.

`summarise` takes the submissions one at a time and keeps a row of each, some hundred bytes, so a class of
thousands need not be in memory at once. The index page, the table and the summary are made from the result.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from grader.record import round_score
from grader.render.page import page_name
from grader.report import Check, Part, RunHeader, Status, Submission, first_problem
from grader.verdict import Verdict

BINS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One submission in a line."""

    id: str
    #: File name of its page, in `staff/` and in `students/`.
    page: str
    status: Status
    score: Decimal | None
    max_score: Decimal
    #: Score by part name; None where the grader failed.
    parts: Mapping[str, Decimal | None]
    #: Score less the points by the checks alone, where mistakes were charged once; None where that is nothing.
    adjustment: Decimal | None
    first_problem: str
    flags: int
    #: Names and e-mail addresses of its people, as far as they are known.
    name: str = ""
    email: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartColumn:
    """A part of the assignment, as the head of a column."""

    name: str
    title: str
    max_score: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTally:
    """How a check went over the class; `failed` does not count those that were blocked."""

    title: str
    part: str
    visible: bool
    failed: int
    blocked: int
    asked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MistakeTally:
    """How many students made a mistake."""

    #: Id of the mistake; the first where several cannot be told apart.
    id: str
    title: str
    students: int
    #: Of all students whose submission was graded, from 0 to 1.
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UnrecognisedTally:
    """How many students got a callable wrong in a way that no known mistake explains."""

    callable: str
    students: int
    #: Of all students whose submission was graded, from 0 to 1.
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """A class, ready to be shown."""

    header: RunHeader
    rows: tuple[Row, ...]
    parts: tuple[PartColumn, ...]
    #: Checks that somebody failed, the most failed first.
    checks: tuple[CheckTally, ...]
    #: Mistakes, the most frequent first.
    mistakes: tuple[MistakeTally, ...]
    #: Callables that are wrong in an unknown way, the most frequent first.
    unrecognised: tuple[UnrecognisedTally, ...]
    #: Over all submissions with a score; None when there are none.
    mean: Decimal | None
    median: Decimal | None
    #: Submissions by tenths of the points; full marks count to the last tenth.
    histogram: tuple[int, ...]

    def count(self, status: Status) -> int:
        """Count the submissions of a status."""
        return sum(row.status is status for row in self.rows)

    @property
    def scored(self) -> int:
        """How many submissions have a score."""
        return sum(self.histogram)


@dataclass(slots=True)
class _Tally:
    """Counts while the submissions pass by."""

    parts: dict[str, PartColumn] = field(default_factory=dict)
    checks: dict[str, Check] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    blocked: Counter[str] = field(default_factory=Counter)
    mistakes: Counter[str] = field(default_factory=Counter)
    #: Title by id of the mistake.
    titles: dict[str, str] = field(default_factory=dict)
    unrecognised: Counter[str] = field(default_factory=Counter)
    graded: int = 0

    def add(self, submission: Submission) -> None:
        self.graded += submission.status is Status.GRADED
        for part in submission.parts:
            self.parts.setdefault(part.name, _column(part))
        for check in submission.checks:
            self.checks.setdefault(check.id, check)
            self.asked[check.id] += 1
            self.blocked[check.id] += check.verdict is Verdict.BLOCKED
            self.failed[check.id] += check.verdict not in (Verdict.BLOCKED, Verdict.PASSED)
        for diagnosis in submission.diagnoses:
            self.titles.setdefault(diagnosis.mistakes[0], diagnosis.title)
        self.mistakes.update({diagnosis.mistakes[0] for diagnosis in submission.diagnoses})
        self.unrecognised.update(set(submission.unrecognised))

    def check_tallies(self) -> tuple[CheckTally, ...]:
        order = sorted(self.checks, key=lambda name: (-self.failed[name], -self.blocked[name]))
        return tuple(self._check_tally(name) for name in order if self.failed[name] or self.blocked[name])

    def _check_tally(self, name: str) -> CheckTally:
        check = self.checks[name]
        return CheckTally(
            title=check.title,
            part=check.part,
            visible=check.visible,
            failed=self.failed[name],
            blocked=self.blocked[name],
            asked=self.asked[name],
        )

    def mistake_tallies(self) -> tuple[MistakeTally, ...]:
        return tuple(
            MistakeTally(id=mistake, title=self.titles[mistake], students=students, share=self._share(students))
            for mistake, students in _most_frequent(self.mistakes)
        )

    def unrecognised_tallies(self) -> tuple[UnrecognisedTally, ...]:
        return tuple(
            UnrecognisedTally(callable=name, students=students, share=self._share(students))
            for name, students in _most_frequent(self.unrecognised)
        )

    def _share(self, students: int) -> float:
        return students / self.graded if self.graded else 0.0


def summarise(header: RunHeader, submissions: Iterable[Submission]) -> Overview:
    """Gather what is needed of each submission; `header` may be the report itself."""
    rows, tally = [], _Tally()
    for submission in submissions:
        rows.append(_row(submission))
        tally.add(submission)
    scores = [(row.score, row.max_score) for row in rows if row.score is not None]
    points = [score for score, _ in scores]
    return Overview(
        header=header,
        rows=tuple(rows),
        parts=tuple(tally.parts.values()),
        checks=tally.check_tallies(),
        mistakes=tally.mistake_tallies(),
        unrecognised=tally.unrecognised_tallies(),
        mean=round_score(sum(points, Decimal(0)) / len(points)) if points else None,
        median=round_score(statistics.median(points)) if points else None,
        histogram=_histogram(scores),
    )


def _row(submission: Submission) -> Row:
    return Row(
        id=submission.id,
        page=page_name(submission.id),
        status=submission.status,
        score=submission.score,
        max_score=submission.max_score,
        parts={part.name: part.score for part in submission.parts},
        adjustment=_adjustment(submission),
        first_problem=first_problem(submission),
        flags=len(submission.flags),
        name=_listed(person.name for person in submission.people),
        email=_listed(person.email for person in submission.people),
    )


def _listed(values: Iterable[str]) -> str:
    """Of a group, all of them."""
    return ", ".join(value for value in values if value)


def _adjustment(submission: Submission) -> Decimal | None:
    by_checks = [part.score_checks for part in submission.parts if part.score_checks is not None]
    if submission.score is None or len(by_checks) < len(submission.parts) or not by_checks:
        return None
    return (submission.score - sum(by_checks, Decimal(0))) or None


def _most_frequent(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _column(part: Part) -> PartColumn:
    return PartColumn(name=part.name, title=part.title, max_score=part.max_score)


def _histogram(scores: Iterable[tuple[Decimal, Decimal]]) -> tuple[int, ...]:
    bins = [0] * BINS
    for score, max_score in scores:
        tenth = int(BINS * score / max_score) if max_score else BINS
        bins[min(tenth, BINS - 1)] += 1
    return tuple(bins)
