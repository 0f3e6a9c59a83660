"""A plain CSV with everything that has points: a row a student, so several for a group."""

import csv
import io
from collections.abc import Iterable, Sequence
from decimal import Decimal

from grader.adjustment import AdjustmentKind
from grader.handed_in import HandIn, Person
from grader.record import points_text
from grader.report import RunHeader, Submission
from grader.show import for_csv_cell

_NOBODY = Person()
_HEADS = (
    "submission",
    "name",
    "email",
    "lms_id",
    "login",
    "status",
    "score",
    *(kind.value for kind in AdjustmentKind),
    "final_score",
    "max_score",
    "handed_in",
    "marked_late",
)


def class_csv(header: RunHeader, submissions: Sequence[Submission]) -> str:
    """Write the table.

    Columns: who, status, `score` (what the code earned), what lateness and staff added or took, `final_score` (what
    counts), points of each part (`part.NAME`), verdict of each check (its id), isolation. What is not known is empty. A
    text that a spreadsheet would run as a formula begins with an apostrophe. Lines end in a newline; UTF-8.
    """
    parts = _in_order(part.name for one in submissions for part in one.parts)
    checks = _in_order(check.id for one in submissions for check in one.checks)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(for_csv_cell, [*_HEADS, *(f"part.{name}" for name in parts), *checks, "isolation"]))
    for submission in submissions:
        known = _points(submission, parts, checks)
        for person in submission.people or (_NOBODY,):
            who = (submission.id, person.name, person.email, person.lms_id, person.login)
            writer.writerow([*map(for_csv_cell, who), *known, header.grader.isolation.value])
    return text.getvalue()


def _points(submission: Submission, parts: Sequence[str], checks: Sequence[str]) -> list[str]:
    scores = {part.name: part.score for part in submission.parts}
    verdicts = {check.id: check.verdict.value for check in submission.checks}
    return [
        submission.status.value,
        points_text(submission.score),
        *(points_text(_adjusted(submission, kind)) for kind in AdjustmentKind),
        points_text(submission.final_score),
        points_text(submission.max_score),
        *_handed_in(submission.handed_in),
        *(points_text(scores.get(name)) for name in parts),
        *(verdicts.get(name, "") for name in checks),
    ]


def _adjusted(submission: Submission, kind: AdjustmentKind) -> Decimal | None:
    """The sum of one kind of adjustment; None where there is none."""
    points = [one.points for one in submission.adjustments if one.kind is kind]
    return sum(points, Decimal(0)) if points else None


def _handed_in(handed_in: HandIn | None) -> tuple[str, str]:
    if handed_in is None:
        return "", ""
    return handed_in.time.isoformat() if handed_in.time else "", "yes" if handed_in.is_marked_late else "no"


def _in_order(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
