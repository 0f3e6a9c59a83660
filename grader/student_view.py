"""What a student may see of a report: the one gate between the staff's side and everything sent to students.

Pages, comments and exports for students are made from a `StudentView` and never from a `Submission`. A view
is built up from what may be shown; nothing is copied and then struck out, so a new field of the report stays
private until it is named here. What is never in one:

- flags, and anything of another student;
- of a hidden check, more than title, verdict and points: its id, which may tell what it asks, becomes
  `hidden-1`, and nothing that was said or printed while it ran is kept;
- a mistake, an example or shapes that rest on hidden checks alone: what was found tells what was asked. What such a
  mistake cost is told, because it is part of the student's points, and its name is not;
- the ids of mistakes, which lead to the course's own notes;
- why staff decided the points of a hidden check: the reason may tell what it asks;
- how the grader failed, where it did: such a text may quote the grader's own files and values.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import date

from grader.finding import Charge, Diagnosis, Example, Matrix, Shapes, Step
from grader.late import hand_in_text
from grader.measured import Measured
from grader.report import Check, Feedback, FeedbackLevel, Part, RunHeader, Status, Submission
from grader.student_records import (
    StudentAdjustment,
    StudentCharge,
    StudentCheck,
    StudentDiagnosis,
    StudentExample,
    StudentMatrix,
    StudentMeasured,
    StudentPart,
    StudentShapes,
    StudentStep,
    StudentView,
)
from grader.verdict import Verdict

GRADER_FAILED = (
    "The grader itself failed here. This is not your mistake and does not count as zero points; "
    "the course staff will grade it again."
)
GRADER_FAILED_AND_STAFF_DECIDED = (
    "The grader itself failed here. This is not your mistake; the course staff decided your points."
)
#: Stands for the title of a mistake that is charged and not shown.
FOUND_BY_HIDDEN_CHECKS = "a mistake found by hidden checks"


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
    is_told = level is not FeedbackLevel.VERDICT
    ids = _public_ids(submission)
    shown = _Shown(submission) if is_told else None
    return StudentView(
        assignment_title=header.assignment.title,
        level=level,
        seed=header.seed if is_told else None,
        created=header.created,
        grader_version=header.grader.version,
        torch=header.grader.torch,
        id=submission.id,
        status=submission.status,
        score=submission.score,
        max_score=submission.max_score,
        final_score=submission.final_score,
        adjustments=tuple(_adjustments(submission)),
        handed_in=hand_in_text(submission.handed_in, header.assignment.late, is_for_staff=False),
        reason=_reason(submission),
        notes=submission.notes,
        files=tuple(file.name for file in submission.files),
        parts=tuple(_part(part, shown) for part in submission.parts),
        checks=tuple(_check(check, ids, level) for check in submission.checks),
        diagnoses=tuple(_diagnoses(submission, shown, level)) if shown else (),
        unrecognised=tuple(name for name in submission.unrecognised if name in shown.callables) if shown else (),
        examples=tuple(map(_example, filter(shown.is_of_a_visible_failure, submission.examples))) if shown else (),
        shapes=tuple(map(_shapes, filter(shown.is_of_a_visible_failure, submission.shapes))) if shown else (),
    )


class _Shown:
    """What the visible checks of a submission show by failing. A blocked check has shown nothing yet."""

    def __init__(self, submission: Submission) -> None:
        failed = [check for check in submission.checks if check.visible and check.verdict not in _SHOWS_NOTHING]
        self._callable_of = {check.id: check.callable for check in failed}
        self._places = {(check.part, check.callable) for check in failed}
        self.callables = frozenset(self._callable_of.values())
        self._diagnosis_of = {
            mistake: diagnosis
            for diagnosis in reversed(submission.diagnoses)
            if self.checks_of(diagnosis)
            for mistake in diagnosis.mistakes
        }

    def checks_of(self, diagnosis: Diagnosis) -> tuple[str, ...]:
        """The failed visible checks that a mistake explains; a mistake without any is not shown."""
        return tuple(check for check in diagnosis.checks if check in self._callable_of)

    def callables_of(self, diagnosis: Diagnosis) -> tuple[str, ...]:
        """The callables of a mistake that fail a visible check by it."""
        showing = {self._callable_of[check] for check in self.checks_of(diagnosis)}
        return tuple(name for name in diagnosis.callables if name in showing)

    def is_of_a_visible_failure(self, finding: Example | Shapes) -> bool:
        """Whether the callable of an example or of shapes fails a visible check."""
        return (finding.part, finding.callable) in self._places

    def charge(self, part: Part, charge: Charge) -> StudentCharge:
        """A charge, without the name of a mistake that is not shown."""
        diagnosis = self._diagnosis_of.get(charge.mistake)
        is_place_shown = diagnosis is not None and charge.carried_from in self.callables_of(diagnosis)
        return StudentCharge(
            part=part.title,
            title=diagnosis.title if diagnosis else FOUND_BY_HIDDEN_CHECKS,
            price=charge.price,
            is_carried=charge.carried_from is not None,
            carried_from=charge.carried_from if is_place_shown else None,
        )


_SHOWS_NOTHING = (Verdict.PASSED, Verdict.BLOCKED, Verdict.GRADER_ERROR)


def _public_ids(submission: Submission) -> Mapping[str, str]:
    hidden = (check.id for check in submission.checks if not check.visible)
    names = {check_id: f"hidden-{number}" for number, check_id in enumerate(hidden, 1)}
    return {check.id: names.get(check.id, check.id) for check in submission.checks}


def _reason(submission: Submission) -> str | None:
    if submission.status is not Status.GRADER_ERROR:
        return submission.reason
    return GRADER_FAILED if submission.final_score is None else GRADER_FAILED_AND_STAFF_DECIDED


def _adjustments(submission: Submission) -> Iterator[StudentAdjustment]:
    checks = {check.id: check for check in submission.checks}
    for one in submission.adjustments:
        check = checks.get(one.check) if one.check is not None else None
        yield StudentAdjustment(
            kind=one.kind,
            points=one.points,
            reason=one.reason if one.check is None or (check is not None and check.visible) else "",
            check=check.title if check is not None else "",
        )


def _part(part: Part, shown: _Shown | None) -> StudentPart:
    return StudentPart(
        name=part.name,
        title=part.title,
        file=part.file,
        score=part.score,
        max_score=part.max_score,
        score_checks=part.score_checks,
        charged=tuple(shown.charge(part, charge) for charge in part.charged) if shown else (),
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
        measured=tuple(map(_measured, check.measured)) if is_readable else (),
    )


def _measured(measured: Measured) -> StudentMeasured:
    return StudentMeasured(
        name=measured.name,
        is_gradient=measured.is_gradient,
        is_parameter=measured.is_parameter,
        source=measured.source,
        difference=measured.difference,
        allowed=measured.allowed,
    )


def _public_blocker(check: Check, ids: Mapping[str, str]) -> str | None:
    """Name what blocks a visible check, unless the name is neither a check of this view nor a file."""
    name = check.blocked_by
    if name is None or not check.visible:
        return None
    return ids.get(name, name if name.endswith((".py", ".ipynb")) else None)


def _diagnoses(submission: Submission, shown: _Shown, level: FeedbackLevel) -> Iterator[StudentDiagnosis]:
    """The mistakes that some visible check shows."""
    for diagnosis in submission.diagnoses:
        checks = shown.checks_of(diagnosis)
        if checks:
            yield StudentDiagnosis(
                part=diagnosis.part,
                title=diagnosis.title,
                alternatives=diagnosis.alternatives,
                hint=diagnosis.hint,
                explanation=diagnosis.explanation if level is FeedbackLevel.FULL else "",
                evidence=diagnosis.evidence,
                callables=shown.callables_of(diagnosis),
                checks=checks,
                charged=tuple(_charged(submission.parts, diagnosis.mistakes, shown)),
            )


def _charged(parts: tuple[Part, ...], mistakes: Collection[str], shown: _Shown) -> Iterator[StudentCharge]:
    for part in parts:
        for charge in part.charged:
            if charge.mistake in mistakes:
                yield shown.charge(part, charge)


def _example(example: Example) -> StudentExample:
    return StudentExample(
        part=example.part,
        callable=example.callable,
        call=example.call,
        inputs=tuple(map(_matrix, example.inputs)),
        expected=tuple(map(_matrix, example.expected)),
        observed=tuple(map(_matrix, example.observed)),
        remark=example.remark,
    )


def _matrix(matrix: Matrix) -> StudentMatrix:
    return StudentMatrix(name=matrix.name, shape=matrix.shape, axes=matrix.axes, cells=matrix.cells)


def _shapes(shapes: Shapes) -> StudentShapes:
    return StudentShapes(
        part=shapes.part,
        callable=shapes.callable,
        call=shapes.call,
        sizes=shapes.sizes,
        steps=tuple(map(_step, shapes.steps)),
        is_cut=shapes.is_cut,
        wanted=shapes.wanted,
    )


def _step(step: Step) -> StudentStep:
    return StudentStep(
        file=step.file,
        line=step.line,
        operation=step.operation,
        inputs=step.inputs,
        output=step.output,
        times=step.times,
        stage=step.stage,
        departs=step.departs,
    )
