"""What was done to a score after grading, as a page tells it: where it begins, each change, and what counts in the end.

A student's page tells `student_records.StudentAdjustment`s, which have the same fields.
"""

from dataclasses import dataclass
from decimal import Decimal

from grader.adjustment import AdjustmentKind
from grader.report import Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjusted:
    """One change of the score."""

    kind: AdjustmentKind
    points: Decimal
    reason: str
    #: Title of the check that staff decided on; empty for the whole submission.
    check: str


def adjustments_of(submission: Submission) -> list[Adjusted]:
    """The changes of a submission's score, in order."""
    titles = {check.id: check.title for check in submission.checks}
    return [
        Adjusted(
            kind=one.kind,
            points=one.points,
            reason=one.reason,
            check=titles.get(one.check, one.check) if one.check is not None else "",
        )
        for one in submission.adjustments
    ]
