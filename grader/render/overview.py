"""What the reports on a whole class need of each submission, gathered in one pass.

`summarise` takes the submissions one at a time and keeps a row of each, some hundred bytes, so a class of
thousands need not be in memory at once. The index page, the table and the summary are made from the result.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from grader.adjustment import AdjustmentKind
from grader.handed_in import TimeSource
from grader.late import is_late
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
    #: The score that counts, with late days and what staff decided.
    final_score: Decimal | None
    #: Points taken for late days, and those that overrides add or take; None where there is no such thing.
    late: Decimal | None
    overrides: Decimal | None
    #: Whether it came late, whatever that costs.
    is_late: bool
    #: Who says when it came; None where nobody does.
    timed_by: TimeSource | None
    #: Names and e-mail addresses of its people, as far as they are known.
    name: str = ""
    email: str = ""

    @property
    def is_adjusted(self) -> bool:
        """Whether something was done to the score after grading."""
        return self.late is not None or self.overrides is not None


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
    #: The same of the scores that count.
    final_mean: Decimal | None
    final_median: Decimal | None
    #: Submissions by tenths of the points; full marks count to the last tenth.
    histogram: tuple[int, ...]

    def count(self, status: Status) -> int:
        """Count the submissions of a status."""
        return sum(row.status is status for row in self.rows)

    @property
    def scored(self) -> int:
        """How many submissions have a score."""
        return sum(self.histogram)

    @property
    def is_adjusted(self) -> bool:
        """Whether some score is another than the code earned, or staff decided one."""
        return any(row.is_adjusted for row in self.rows)

    def adjustments(self) -> list[str]:
        """Say for staff what was done to scores after grading, and what that rests on: a line each."""
        late, overrides = sum(row.is_late for row in self.rows), sum(row.overrides is not None for row in self.rows)
        taken = sum((row.late for row in self.rows if row.late), Decimal(0))
        by_git = sum(row.timed_by is TimeSource.GIT for row in self.rows)
        unknown = sum(row.timed_by is None for row in self.rows)
        lines = []
        if late:
            lines.append(f"{late} handed in late{f', which takes {-taken:.2f} points in all' if taken else ''}")
        if overrides:
            lines.append(f"{overrides} with points that staff decided")
        if by_git:
            lines.append(f"{by_git} timed by the date of a commit, which is what the student's own machine said")
        if unknown and self.header.assignment.late:
            lines.append(f"{unknown} of unknown time: nothing is taken off, though there is a deadline")
        return lines


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
        rows.append(_row(header, submission))
        tally.add(submission)
    scores = [(row.score, row.max_score) for row in rows if row.score is not None]
    points = [score for score, _ in scores]
    finals = [row.final_score for row in rows if row.final_score is not None]
    return Overview(
        header=header,
        rows=tuple(rows),
        parts=tuple(tally.parts.values()),
        checks=tally.check_tallies(),
        mistakes=tally.mistake_tallies(),
        unrecognised=tally.unrecognised_tallies(),
        mean=_mean(points),
        median=_median(points),
        final_mean=_mean(finals),
        final_median=_median(finals),
        histogram=_histogram(scores),
    )


def _row(header: RunHeader, submission: Submission) -> Row:
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
        final_score=submission.final_score,
        late=_changed(submission, AdjustmentKind.LATE),
        overrides=_changed(submission, AdjustmentKind.OVERRIDE),
        is_late=is_late(submission.handed_in, header.assignment.late),
        timed_by=_timed_by(submission),
        name=_listed(person.name for person in submission.people),
        email=_listed(person.email for person in submission.people),
    )


def _timed_by(submission: Submission) -> TimeSource | None:
    """Who says when it came. A platform that marks what is late says of the others that they are not."""
    handed_in = submission.handed_in
    if handed_in is None or (handed_in.time is None and handed_in.source is not TimeSource.PLATFORM):
        return None
    return handed_in.source


def _changed(submission: Submission, kind: AdjustmentKind) -> Decimal | None:
    points = [one.points for one in submission.adjustments if one.kind is kind]
    return sum(points, Decimal(0)) if points else None


def _mean(points: Sequence[Decimal]) -> Decimal | None:
    return round_score(sum(points, Decimal(0)) / len(points)) if points else None


def _median(points: Sequence[Decimal]) -> Decimal | None:
    return round_score(statistics.median(points)) if points else None


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
