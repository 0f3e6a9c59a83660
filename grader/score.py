"""Adding up points: results of checks become the parts and the score of a submission. Decides no verdict."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from grader.assignment import Assignment
from grader.charge import Charged, charge
from grader.diagnosis.findings import Findings
from grader.examine import Examined
from grader.messages import absent_note
from grader.outcome import Scanned
from grader.plugin import CheckResult
from grader.report import Check, Flag, Part, Status, Submission
from grader.spec import CheckSpec
from grader.stage import Staged
from grader.verdict import Verdict


def score_submission(
    assignment: Assignment,
    staged: Staged,
    examined: Examined,
    scanned: Scanned | None = None,
    found: Findings | None = None,
) -> Submission:
    """The report entry of a submission that was examined. A fault of the grader leaves it without a score.

    What the scan of its text found becomes flags and notes, and decides no point. What the diagnosis found decides what
    a callable loses, where the assignment scores by mistakes.
    """
    scanned, found = scanned or Scanned(), found or Findings()
    flags = tuple(Flag(**sign.model_dump()) for sign in scanned.findings)
    staged = replace(staged, notes=(*staged.notes, *map(absent_note, scanned.absent)))
    order = [part.name for part in assignment.parts]
    results = zip(examined.specs, examined.results, examined.durations_s, strict=True)
    checks = tuple(sorted((_check(*result) for result in results), key=lambda check: order.index(check.part)))
    faults = [check for check in checks if check.verdict is Verdict.GRADER_ERROR]
    if faults:
        reason = (
            f"the grader failed in {len(faults)} of {len(checks)} checks, first in {faults[0].id}: "
            f"{faults[0].message}; this is not the student's fault, and no score is given"
        )
        return unscored(assignment, staged.id, Status.GRADER_ERROR, reason, staged=staged, checks=checks, flags=flags)
    charged = _charged(assignment, checks, found)
    parts = tuple(_part(assignment, part.name, checks, charged) for part in assignment.parts)
    return Submission(
        id=staged.id,
        status=Status.GRADED,
        score=_sum(part.score for part in parts),
        max_score=assignment.max_score,
        notes=staged.notes,
        files=staged.files,
        parts=parts,
        checks=checks,
        diagnoses=found.diagnoses,
        unrecognised=found.unrecognised,
        examples=found.examples,
        shapes=found.shapes,
        flags=flags,
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
        assignment,
        staged.id,
        Status.UNGRADABLE,
        f"{reason}. Hand in {wanted}, in one folder, or one notebook.",
        staged=staged,
    )


def unscored(
    assignment: Assignment,
    id: str,
    status: Status,
    reason: str,
    *,
    staged: Staged | None = None,
    checks: tuple[Check, ...] = (),
    flags: tuple[Flag, ...] = (),
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
        flags=flags,
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
        measured=result.measured,
        duration_s=duration,
    )


def _charged(assignment: Assignment, checks: Sequence[Check], found: Findings) -> tuple[Charged, ...]:
    if assignment.scoring == "checks":
        return ()
    lost: dict[tuple[str, str], Decimal] = {}
    for check in checks:
        key = check.part, check.callable
        lost[key] = lost.get(key, Decimal(0)) + check.max_score - (check.score or Decimal(0))
    return charge(found.explained, {**found.prices, **assignment.prices}, lost)


def _part(assignment: Assignment, name: str, checks: Sequence[Check], charged: Sequence[Charged]) -> Part:
    """The points of a part: those of its checks, but a callable that is charged for its mistakes loses their price."""
    part = assignment.part(name)
    own = [check for check in checks if check.part == name]
    by_mistakes = {one.callable: one for one in charged if one.part == name}
    score = _sum(check.max_score if check.callable in by_mistakes else check.score for check in own) - _sum(
        one.lost for one in by_mistakes.values()
    )
    return Part(
        name=name,
        title=part.title,
        file=part.file,
        score=score,
        max_score=part.points,
        score_checks=_sum(check.score for check in own),
        charged=tuple(one for callable in by_mistakes.values() for one in callable.charges),
    )


def _sum(scores: Iterable[Decimal | None]) -> Decimal:
    return sum((score for score in scores if score is not None), Decimal(0))
