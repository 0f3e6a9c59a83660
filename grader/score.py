"""Adding up points: results of checks become the parts and the score of a submission. Decides no verdict."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from grader.assignment import Assignment
from grader.examine import Examined
from grader.plugin import CheckResult
from grader.report import Check, Part, Status, Submission
from grader.spec import CheckSpec
from grader.stage import Staged
from grader.verdict import Verdict


def score_submission(assignment: Assignment, staged: Staged, examined: Examined) -> Submission:
    """The report entry of a submission that was examined. A fault of the grader leaves it without a score."""
    order = [part.name for part in assignment.parts]
    results = zip(examined.specs, examined.results, examined.durations_s, strict=True)
    checks = tuple(sorted((_check(*result) for result in results), key=lambda check: order.index(check.part)))
    faults = [check for check in checks if check.verdict is Verdict.GRADER_ERROR]
    if faults:
        reason = (
            f"the grader failed in {len(faults)} of {len(checks)} checks, first in {faults[0].id}: "
            f"{faults[0].message}; this is not the student's fault, and no score is given"
        )
        return unscored(assignment, staged.id, Status.GRADER_ERROR, reason, staged=staged, checks=checks)
    parts = tuple(_part(assignment, part.name, checks) for part in assignment.parts)
    return Submission(
        id=staged.id,
        status=Status.GRADED,
        score=_sum(part.score for part in parts),
        max_score=assignment.max_score,
        notes=staged.notes,
        files=staged.files,
        parts=parts,
        checks=checks,
    )


def ungradable(assignment: Assignment, staged: Staged) -> Submission:
    """The entry of a submission of which nothing could be read: score 0, with what to do."""
    wanted = ", ".join(assignment.files)
    by_reason: dict[str, list[str]] = {}
    for name, reason in staged.sources.unreadable.items():
        if name in assignment.files:
            by_reason.setdefault(reason, []).append(name)
    reasons = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in by_reason.items())
    found = ", ".join(file.name for file in staged.files) or "no Python file"
    reason = f"no file could be read ({reasons})" if reasons else f"none of {wanted} is there; found {found}"
    return unscored(
        assignment, staged.id, Status.UNGRADABLE, f"{reason}. Hand in {wanted}, in one folder.", staged=staged
    )


def unscored(
    assignment: Assignment,
    id: str,
    status: Status,
    reason: str,
    *,
    staged: Staged | None = None,
    checks: tuple[Check, ...] = (),
) -> Submission:
    """An entry without points: 0 when it is the submission's doing, null when it is the grader's."""
    score = Decimal(0) if status is Status.UNGRADABLE else None
    parts = tuple(
        Part(
            name=part.name,
            title=part.title,
            file=part.file,
            score=score,
            max_score=part.points,
            score_checks=score,
        )
        for part in assignment.parts
    )
    return Submission(
        id=id,
        status=status,
        score=score,
        max_score=assignment.max_score,
        reason=reason,
        parts=parts,
        checks=checks,
        notes=staged.notes if staged else (),
        files=staged.files if staged else (),
    )


def _check(spec: CheckSpec, result: CheckResult, duration: float) -> Check:
    is_passed = result.verdict is Verdict.PASSED
    score = None if result.verdict is Verdict.GRADER_ERROR else spec.points if is_passed else Decimal(0)
    return Check(
        id=spec.id,
        title=spec.title,
        description=spec.description,
        part=spec.part,
        callable=spec.callable,
        visible=spec.is_visible,
        verdict=result.verdict,
        score=score,
        max_score=spec.points,
        message=result.message,
        hint="" if is_passed else spec.hint,
        output=result.output,
        output_cut=result.is_output_cut,
        blocked_by=result.blocked_by,
        duration_s=duration,
    )


def _part(assignment: Assignment, name: str, checks: Sequence[Check]) -> Part:
    part = assignment.part(name)
    score = _sum(check.score for check in checks if check.part == name)
    return Part(name=name, title=part.title, file=part.file, score=score, max_score=part.points, score_checks=score)


def _sum(scores: Iterable[Decimal | None]) -> Decimal:
    return sum((score for score in scores if score is not None), Decimal(0))
