"""What a student may see of a report: the one gate between the staff's side and everything sent to students.

Pages, comments and exports for students are made from a `StudentView` and never from a `Submission`. A view
is built up from what may be shown; nothing is copied and then struck out, so a new field of the report stays
private until it is named here. What is never in one:

- flags, and anything of another student;
- of a hidden check, more than title, verdict and points: its id, which may tell what it asks, becomes
  `hidden-1`, and nothing that was said or printed while it ran is kept;
- how the grader failed, where it did: such a text may quote the grader's own files and values.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from grader.finding import Diagnosis
from grader.report import Check, Feedback, FeedbackLevel, Part, RunHeader, Status, Submission
from grader.verdict import Verdict

GRADER_FAILED = (
    "The grader itself failed here. This is not your mistake and does not count as zero points; "
    "the course staff will grade it again."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentPart:
    """A part's points."""

    name: str
    title: str
    file: str
    score: Decimal | None
    max_score: Decimal
    #: Points by the checks alone; differs from `score` where a mistake was charged once instead of per check.
    score_checks: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentCheck:
    """A check as its student may see it; texts are empty where the level or secrecy says so."""

    #: The check's own id, or `hidden-N`, counted within the submission.
    id: str
    title: str
    part: str
    visible: bool
    verdict: Verdict
    score: Decimal | None
    max_score: Decimal
    description: str
    callable: str
    message: str
    hint: str
    output: str
    output_cut: bool
    #: Id of a check of this view, or name of a file.
    blocked_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentDiagnosis:
    """A recognised mistake, explained; the ids of checks are those of this view."""

    title: str
    explanation: str
    callables: tuple[str, ...]
    checks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentView:
    """All that one student may see of a run."""

    assignment_title: str
    #: The level in force on the day the view was made.
    level: FeedbackLevel
    #: Seed of the inputs, to repeat the visible checks; None at level verdict, which shows no inputs.
    seed: int | None
    created: datetime
    grader_version: str
    torch: str
    id: str
    status: Status
    score: Decimal | None
    max_score: Decimal
    reason: str | None
    notes: tuple[str, ...]
    files: tuple[str, ...]
    parts: tuple[StudentPart, ...]
    checks: tuple[StudentCheck, ...]
    diagnoses: tuple[StudentDiagnosis, ...]


def level_in_force(feedback: Feedback, today: date) -> FeedbackLevel:
    """Say which level applies today: full is hint until its day has come."""
    if feedback.level is FeedbackLevel.FULL and feedback.full_from is not None and today < feedback.full_from:
        return FeedbackLevel.HINT
    return feedback.level


def student_view(header: RunHeader, submission: Submission, feedback: Feedback, today: date) -> StudentView:
    """Choose what the student of a submission may see.

    Args:
        header: the run.
        submission: the student's own submission.
        feedback: what the assignment allows; usually `header.assignment.feedback`.
        today: the day on which the student will see it.
    """
    level = level_in_force(feedback, today)
    ids = _public_ids(submission)
    return StudentView(
        assignment_title=header.assignment.title,
        level=level,
        seed=None if level is FeedbackLevel.VERDICT else header.seed,
        created=header.created,
        grader_version=header.grader.version,
        torch=header.grader.torch,
        id=submission.id,
        status=submission.status,
        score=submission.score,
        max_score=submission.max_score,
        reason=GRADER_FAILED if submission.status is Status.GRADER_ERROR else submission.reason,
        notes=submission.notes,
        files=tuple(file.name for file in submission.files),
        parts=tuple(_part(part) for part in submission.parts),
        checks=tuple(_check(check, ids, level) for check in submission.checks),
        diagnoses=tuple(_diagnoses(submission, level)),
    )


def _public_ids(submission: Submission) -> Mapping[str, str]:
    hidden = (check.id for check in submission.checks if not check.visible)
    names = {check_id: f"hidden-{number}" for number, check_id in enumerate(hidden, 1)}
    return {check.id: names.get(check.id, check.id) for check in submission.checks}


def _part(part: Part) -> StudentPart:
    return StudentPart(
        name=part.name,
        title=part.title,
        file=part.file,
        score=part.score,
        max_score=part.max_score,
        score_checks=part.score_checks,
    )


def _check(check: Check, ids: Mapping[str, str], level: FeedbackLevel) -> StudentCheck:
    is_told = check.visible and level is not FeedbackLevel.VERDICT
    is_readable = is_told and check.verdict is not Verdict.GRADER_ERROR
    return StudentCheck(
        id=ids[check.id],
        title=check.title,
        part=check.part,
        visible=check.visible,
        verdict=check.verdict,
        score=check.score,
        max_score=check.max_score,
        description=check.description if is_told else "",
        callable=check.callable if is_told else "",
        message=check.message if is_readable else GRADER_FAILED if is_told else "",
        hint=check.hint if is_readable else "",
        output=check.output if is_readable else "",
        output_cut=check.output_cut and is_readable,
        blocked_by=_public_blocker(check, ids),
    )


def _public_blocker(check: Check, ids: Mapping[str, str]) -> str | None:
    """Name what blocks a visible check, unless the name is neither a check of this view nor a file."""
    name = check.blocked_by
    if name is None or not check.visible:
        return None
    return ids.get(name, name if name.endswith((".py", ".ipynb")) else None)


def _diagnoses(submission: Submission, level: FeedbackLevel) -> Iterator[StudentDiagnosis]:
    """Explain, at level full, the mistakes that some visible check shows."""
    if level is not FeedbackLevel.FULL:
        return
    visible = {check.id for check in submission.checks if check.visible}
    for diagnosis in submission.diagnoses:
        checks = tuple(check_id for check_id in diagnosis.checks if check_id in visible)
        if checks:
            yield _diagnosis(diagnosis, checks)


def _diagnosis(diagnosis: Diagnosis, checks: tuple[str, ...]) -> StudentDiagnosis:
    return StudentDiagnosis(
        title=diagnosis.title,
        explanation=diagnosis.explanation,
        callables=diagnosis.callables,
        checks=checks,
    )
