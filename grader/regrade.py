"""What a regrade changed: two reports side by side, by student and by check. Compares records, and grades nothing.

Changed is what a student would notice: status, points, verdicts, mistakes, adjustments. Messages, examples and times
are not compared: they hold the numbers of their own inputs, which another seed draws afresh.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Annotated

from pydantic import PlainSerializer, WithJsonSchema

from grader.adjustment import AdjustmentKind
from grader.means import Difference, all_differences
from grader.record import Record, Score, StudentText, round_score
from grader.report import Report, Status, Submission
from grader.verdict import Verdict

#: A difference of points, which may be of any sign.
Gain = Annotated[
    Decimal,
    PlainSerializer(float, return_type=float, when_used="json"),
    WithJsonSchema({"type": "number", "description": "Points more, or fewer where it is below 0."}),
]


class CheckChange(Record):
    """A check that another verdict or other points came of."""

    id: str
    """Its id."""
    title: str
    """What it checks."""
    visible: bool
    """Whether students have it."""
    old_verdict: Verdict
    """What it concluded."""
    new_verdict: Verdict
    """What it concludes now."""
    old_score: Score | None
    """Points it gave; null where the grader failed."""
    new_score: Score | None
    """Points it gives now; null where the grader failed."""


class PartChange(Record):
    """A part with other points."""

    name: str
    """Its name."""
    old_score: Score | None
    """Points it gave; null where there were none."""
    new_score: Score | None
    """Points it gives now; null where there are none."""


class MistakeChange(Record):
    """A mistake that is recognised in one of the reports only."""

    id: str
    """Id of the mistake; the callable where it is one that nobody recognises."""
    title: str
    """The mistake in a line."""


class Points(Record):
    """What stands behind a student's final score in one report."""

    status: Status
    """Whether it has a score."""
    score: Score | None
    """Points by the code."""
    final_score: Score | None
    """Points that count."""
    late: Gain | None
    """What late days take; null where they take nothing."""
    overrides: Gain | None
    """What staff added or took; null where they decided nothing."""


class StudentChange(Record):
    """What is another for one student."""

    id: StudentText
    """Id of the submission."""
    old: Points | None
    """As it was; null where it appeared."""
    new: Points | None
    """As it is; null where it vanished."""
    has_other_files: bool = False
    """Whether something else was handed in."""
    parts: tuple[PartChange, ...] = ()
    """Parts with other points."""
    checks: tuple[CheckChange, ...] = ()
    """Checks with another verdict or other points, that both reports have."""
    mistakes_gone: tuple[MistakeChange, ...] = ()
    """Mistakes that are no longer recognised."""
    mistakes_new: tuple[MistakeChange, ...] = ()
    """Mistakes that are recognised now."""

    @property
    def gain(self) -> Decimal | None:
        """How many points that count there are more; None where a report has none."""
        old = self.old.final_score if self.old else None
        new = self.new.final_score if self.new else None
        return None if old is None or new is None else new - old


class VerdictChange(Record):
    """How often a check went from one verdict to another."""

    check: str
    """Id of the check."""
    title: str
    """What it checks."""
    old: Verdict
    """What it concluded."""
    new: Verdict
    """What it concludes now."""
    students: int
    """For how many."""


class Comparison(Record):
    """Two reports side by side."""

    differences: tuple[Difference, ...]
    """What the runs do not have in common."""
    is_same_assignment: bool
    """Whether both are of one assignment, by its name."""
    both: int
    """Submissions that are in both."""
    up: int
    """Those whose final score rose."""
    down: int
    """Those whose final score fell."""
    same: int
    """Those whose final score is what it was."""
    unscored: int
    """Those that have no final score in one of the reports, and have one in the other."""
    old_mean: Score | None
    """Mean final score of those that have one in both, as it was."""
    new_mean: Score | None
    """The same as it is."""
    resubmitted: int
    """Those with other files."""
    checks_gone: tuple[str, ...]
    """Ids of checks that only the earlier report has."""
    checks_new: tuple[str, ...]
    """Ids of checks that only the later one has."""
    verdicts: tuple[VerdictChange, ...]
    """Changes of verdicts, the most frequent first."""
    students: tuple[StudentChange, ...]
    """Students for whom something is another: those who lost most in front, then by id."""

    @property
    def is_equal(self) -> bool:
        """Whether nothing that was compared is another for anybody."""
        return not (self.students or self.checks_gone or self.checks_new)

    @property
    def appeared(self) -> int:
        """How many submissions only the later report has."""
        return sum(one.old is None for one in self.students)

    @property
    def vanished(self) -> int:
        """How many submissions only the earlier report has."""
        return sum(one.new is None for one in self.students)

    @property
    def status_changes(self) -> int:
        """How many submissions of both have another status."""
        return sum(
            one.old is not None and one.new is not None and one.old.status != one.new.status for one in self.students
        )


def compare_reports(old: Report, new: Report) -> Comparison:
    """Say what is another in the second of two reports."""
    before = {one.id: one for one in old.submissions}
    after = {one.id: one for one in new.submissions}
    pairs = [(one, after[one.id]) for one in old.submissions if one.id in after]
    changes = [change for pair in pairs if (change := _student(*pair))]
    changes += [StudentChange(id=one.id, old=_points(one), new=None) for one in old.submissions if one.id not in after]
    changes += [StudentChange(id=one.id, old=None, new=_points(one)) for one in new.submissions if one.id not in before]
    finals = [(one.final_score, other.final_score) for one, other in pairs]
    scored = [(one, other) for one, other in finals if one is not None and other is not None]
    return Comparison(
        differences=tuple(all_differences(old, new)),
        is_same_assignment=old.assignment.name == new.assignment.name,
        both=len(pairs),
        up=sum(other > one for one, other in scored),
        down=sum(other < one for one, other in scored),
        same=sum(other == one for one, other in finals),
        unscored=sum((one is None) != (other is None) for one, other in finals),
        old_mean=_mean([one for one, _ in scored]),
        new_mean=_mean([other for _, other in scored]),
        resubmitted=sum(one.files != other.files for one, other in pairs),
        checks_gone=_only_in(old, new),
        checks_new=_only_in(new, old),
        verdicts=tuple(_verdicts(changes)),
        students=tuple(sorted(changes, key=_order)),
    )


def _student(old: Submission, new: Submission) -> StudentChange | None:
    """What is another for a student who is in both; None where nothing is."""
    change = StudentChange(
        id=old.id,
        old=_points(old),
        new=_points(new),
        has_other_files=old.files != new.files,
        parts=tuple(_parts(old, new)),
        checks=tuple(_checks(old, new)),
        mistakes_gone=tuple(_mistakes(old, new)),
        mistakes_new=tuple(_mistakes(new, old)),
    )
    is_another = change.old != change.new or change.parts or change.checks
    return change if is_another or change.mistakes_gone or change.mistakes_new else None


def _points(entry: Submission) -> Points:
    return Points(
        status=entry.status,
        score=entry.score,
        final_score=entry.final_score,
        late=_adjusted(entry, AdjustmentKind.LATE),
        overrides=_adjusted(entry, AdjustmentKind.OVERRIDE),
    )


def _adjusted(entry: Submission, kind: AdjustmentKind) -> Decimal | None:
    points = [one.points for one in entry.adjustments if one.kind is kind]
    return sum(points, Decimal(0)) if points else None


def _parts(old: Submission, new: Submission) -> Iterator[PartChange]:
    before = {part.name: part.score for part in old.parts}
    for part in new.parts:
        if part.name in before and before[part.name] != part.score:
            yield PartChange(name=part.name, old_score=before[part.name], new_score=part.score)


def _checks(old: Submission, new: Submission) -> Iterator[CheckChange]:
    before = {check.id: check for check in old.checks}
    for check in new.checks:
        other = before.get(check.id)
        if other and (other.verdict, other.score) != (check.verdict, check.score):
            yield CheckChange(
                id=check.id,
                title=check.title,
                visible=check.visible,
                old_verdict=other.verdict,
                new_verdict=check.verdict,
                old_score=other.score,
                new_score=check.score,
            )


def _mistakes(one: Submission, other: Submission) -> Iterator[MistakeChange]:
    """The mistakes of one entry that the other has not, and callables that are wrong in an unknown way here alone."""
    known = {diagnosis.mistakes[0] for diagnosis in other.diagnoses}
    for mistake, title in {diagnosis.mistakes[0]: diagnosis.title for diagnosis in one.diagnoses}.items():
        if mistake not in known:
            yield MistakeChange(id=mistake, title=title)
    for name in one.unrecognised:
        if name not in other.unrecognised:
            yield MistakeChange(id=name, title=f"{name}: wrong, but not recognised")


def _only_in(one: Report, other: Report) -> tuple[str, ...]:
    """Ids of checks of one report that the other has not; none where a report has no checks at all."""
    mine, its = _check_ids(one), _check_ids(other)
    return tuple(name for name in mine if name not in its) if its else ()


def _check_ids(report: Report) -> dict[str, None]:
    return dict.fromkeys(check.id for entry in report.submissions for check in entry.checks)


def _verdicts(changes: Iterable[StudentChange]) -> Iterator[VerdictChange]:
    checks = [check for change in changes for check in change.checks]
    titles = {check.id: check.title for check in checks}
    counts = Counter(
        (check.id, check.old_verdict, check.new_verdict) for check in checks if check.old_verdict != check.new_verdict
    )
    for (name, old, new), students in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield VerdictChange(check=name, title=titles[name], old=old, new=new, students=students)


def _mean(points: Sequence[Decimal]) -> Decimal | None:
    return round_score(sum(points, Decimal(0)) / len(points)) if points else None


def _order(change: StudentChange) -> tuple[bool, Decimal, str]:
    """Those who are in one report only first, or lack a score in one; then by what they lost."""
    return change.gain is not None, change.gain or Decimal(0), change.id
