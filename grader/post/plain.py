"""A student's result as plain text for a comment on a learning platform."""

from collections.abc import Iterator

from grader.post.failures import CHARGED, Group, failures, message_of, points
from grader.post.fit import fit
from grader.report import Status
from grader.show import for_lms_comment
from grader.student_view import StudentDiagnosis, StudentView

#: Canvas's `maximum_text_length`, less one.
_MOST_BYTES = 64 * 1024 - 2
_LEFT_OUT = "The rest is left out here, because a comment cannot be longer."


def comment_text(view: StudentView, marker: str) -> str:
    """Write the comment: the marker alone in its first line, then the result."""
    return fit([marker, *(for_lms_comment(piece) for piece in _pieces(view))], _MOST_BYTES, _LEFT_OUT).rstrip()


def _pieces(view: StudentView) -> Iterator[str]:
    yield "\n".join(_figures(view))
    if view.status is not Status.GRADED and view.reason:
        yield view.reason
    if view.diagnoses or view.unrecognised:
        yield "WHAT TO LOOK AT"
    for diagnosis in view.diagnoses:
        yield "\n".join(_diagnosis(diagnosis))
    if view.unrecognised:
        yield f"Wrong in a way that is none of the known mistakes: {', '.join(view.unrecognised)}"
    groups = failures(view.checks)
    if groups:
        yield f"CHECKS THAT DID NOT PASS: {sum(map(len, groups))} of {len(view.checks)}"
    for group in groups:
        yield "\n".join(_failure(group))
    if view.notes:
        yield "\n".join(["NOTICED ON THE WAY", *(f"- {note}" for note in view.notes)])


def _figures(view: StudentView) -> Iterator[str]:
    counts = "not graded" if view.final_score is None else f"{view.final_score:.2f} of {view.max_score:.2f} points"
    yield f"{' '.join(view.assignment_title.split())}: {counts}"
    if view.adjustments:
        yield "The code earned: " + ("not graded" if view.score is None else f"{view.score:.2f} points")
    for one in view.adjustments:
        reason = " ".join(one.reason.split()) or "decided by the course staff"
        yield f"  {one.points:+.2f}  {reason}" + (f" ({one.check})" if one.check else "")
    for part in view.parts:
        score = "not graded" if part.score is None else f"{part.score:.2f}"
        yield f"  {part.title}: {score} of {part.max_score:.2f}"
    charges = [charge for part in view.parts for charge in part.charged]
    if charges:
        yield f"{CHARGED}:"
    for charge in charges:
        before = ", charged before" if charge.is_carried else ""
        yield f"  {charge.part}: {charge.price:.2f} for: {charge.title}{before}"


def _diagnosis(diagnosis: StudentDiagnosis) -> Iterator[str]:
    names = ", ".join(diagnosis.callables)
    yield f"- {diagnosis.title}" + (f" ({names})" if names else "")
    for other in diagnosis.alternatives:
        yield f"  It may also be this, which gives the same: {other}"
    for text in (diagnosis.evidence, diagnosis.explanation):
        if text:
            yield f"  {' '.join(text.split())}"
    if diagnosis.hint:
        yield f"  Hint: {' '.join(diagnosis.hint.split())}"


def _failure(group: Group) -> Iterator[str]:
    first = group[0]
    hidden = "" if first.visible else "hidden, "
    for check in group[:-1]:
        yield f"- {check.title}"
    yield f"- {group[-1].title} ({hidden}{first.verdict.label}, {points(group)})"
    for line in (message_of(first) if len(group) == 1 else first.message).splitlines():
        yield f"  {line}"
