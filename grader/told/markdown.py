"""A student's result as Markdown for GitHub: a comment, the text of a check, the summary of a job, a file.

The words of the course stand in it as prose. Whatever a student chose, or their code gave, stands in code spans and
blocks, where GitHub reads no markup, mention, reference, link or image.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from grader.record import points_text
from grader.render.agreement import agreements
from grader.render.causes import Cause, Finding, Printed, find_causes
from grader.report import Status
from grader.show import for_github_html, for_github_prose, for_markdown, for_markdown_block
from grader.student_records import StudentAdjustment, StudentCharge, StudentDiagnosis, StudentView
from grader.told.paragraphs import title
from grader.verdict import Verdict

#: Why points of checks and of parts may differ.
_CHARGED = "A mistake that was recognised costs its price once, instead of the points of each check"
#: Said where not everything fits.
LEFT_OUT = "The rest is left out here, because GitHub takes no longer text. All of it is in the report of the run."
#: Characters of what a student's code printed.
_MOST_OUTPUT = 2000


def pieces(view: StudentView) -> list[str]:
    """The result in pieces of Markdown, the most important first."""
    return [
        f"## {for_github_prose(view.assignment_title)}: {title(view)}",
        *_adjustments(view),
        *_reason(view),
        *_parts(view),
        *_agreements(view),
        *_diagnoses(view),
        *_failures(view),
        *_notes(view),
        _facts(view),
    ]


def _adjustments(view: StudentView) -> Iterator[str]:
    """Both figures, and what lies between them."""
    if not view.adjustments:
        return
    earned = "not graded" if view.score is None else f"{view.score:.2f} points"
    rows = [f"- {one.points:+.2f}: {_why(one)}" for one in view.adjustments]
    yield "\n".join([f"The code earned: **{earned}**. What counts: **{title(view)}**, after", "", *rows])


def _why(one: StudentAdjustment) -> str:
    said = for_markdown(" ".join(one.reason.split())) or "decided by the course staff"
    return f"{said} ({for_github_prose(one.check)})" if one.check else said


def _reason(view: StudentView) -> Iterator[str]:
    if view.status is not Status.GRADED and view.reason:
        yield for_markdown_block(view.reason)


def _parts(view: StudentView) -> Iterator[str]:
    if not view.parts:
        return
    rows = ["| Part | File | Points |", "| :-- | :-- | --: |"]
    for part in view.parts:
        score = f"{points_text(part.score, '–')} of {points_text(part.max_score)}"
        rows.append(f"| {for_github_prose(part.title)} | {for_markdown(part.file)} | {score} |")
    yield "\n".join(rows)
    charged = [charge for part in view.parts for charge in part.charged]
    costly = [f"- {_charge(charge)}" for charge in charged if charge.price or not charge.is_carried]
    if costly:
        yield "\n".join([f"{_CHARGED}:", "", *costly])


def _charge(charge: StudentCharge) -> str:
    before = ", charged before" if charge.is_carried else ""
    return f"{for_github_prose(charge.part)}: {charge.price:.2f} for: {for_github_prose(charge.title)}{before}"


def _agreements(view: StudentView) -> Iterator[str]:
    """What was compared with PyTorch, in numbers."""
    rows = [f"- {for_markdown(one.callable)}: {for_github_prose(one.text)}" for one in agreements(view.checks)]
    if rows:
        yield "\n".join(["Compared with PyTorch:", "", *rows])


def _diagnoses(view: StudentView) -> Iterator[str]:
    if view.diagnoses or view.unrecognised:
        yield "### What to look at"
    for diagnosis in view.diagnoses:
        yield "\n\n".join(_diagnosis(diagnosis))
    if view.unrecognised:
        names = ", ".join(map(for_markdown, view.unrecognised))
        yield f"Wrong in a way that is none of the known mistakes: {names}"


def _diagnosis(diagnosis: StudentDiagnosis) -> Iterator[str]:
    names = ", ".join(map(for_markdown, diagnosis.callables))
    yield f"**{for_github_prose(diagnosis.title)}**" + (f" ({names})" if names else "")
    for other in diagnosis.alternatives:
        yield f"It may also be this, which gives the same: {for_github_prose(other)}"
    if diagnosis.evidence:
        yield for_markdown_block(diagnosis.evidence)
    if diagnosis.explanation:
        yield for_github_prose(diagnosis.explanation)
    if diagnosis.hint:
        yield f"*Hint:* {for_github_prose(diagnosis.hint)}"


def _failures(view: StudentView) -> Iterator[str]:
    """Each thing to fix once; then what hidden checks say, which is no more than their verdicts."""
    causes = find_causes(view.checks, {part.name: part.file for part in view.parts})
    told = [cause for cause in causes if not cause.is_silent]
    if told:
        failed = sum(len(cause.checks) + len(cause.held_up) for cause in told)
        yield f"### Checks that did not pass: {failed} of {len(view.checks)}"
    for cause in told:
        yield "\n\n".join([f"<details><summary>{_head(cause)}</summary>", *_body(cause), "</details>"])
    hidden = [check for cause in causes if cause.is_silent for check in cause.checks]
    if hidden:
        rows = [f"- {for_github_prose(check.title)}: {check.verdict.label}" for check in hidden]
        yield "\n".join([f"### Hidden checks that did not pass: {len(hidden)}", "", *rows])


def _head(cause: Cause) -> str:
    return f"{for_github_html(cause.heading)}: {cause.verdict.label}, {_reached(cause.checks)}"


def _reached(checks: Sequence[Finding]) -> str:
    """What checks got, of what there is."""
    scores = [check.score for check in checks]
    got = None if None in scores else sum((score for score in scores if score is not None), Decimal(0))
    return f"{points_text(got, '–')} of {points_text(sum((check.max_score for check in checks), Decimal(0)))}"


def _body(cause: Cause) -> Iterator[str]:
    first = cause.checks[0]
    if len(cause.checks) > 1:
        yield "\n".join(f"- {for_github_prose(check.title)}" for check in cause.checks)
    elif first.description:
        yield for_github_prose(first.description)
    if cause.message:
        yield for_markdown_block(_message(cause))
    elif first.blocked_by:
        yield f"First make this right: {for_markdown(first.blocked_by)}"
    if cause.held_up:
        yield f"Judged once this is fixed: {len(cause.held_up)} more"
    for printed in cause.printed[:1]:
        yield from _printed(printed)


def _message(cause: Cause) -> str:
    """What a check says, its hint as the last line."""
    hint = " ".join(cause.hint.split())
    return "\n".join([cause.message, *([f"  hint      {hint}"] if hint else [])])


def _printed(printed: Printed) -> Iterator[str]:
    is_cut = printed.is_cut or len(printed.text) > _MOST_OUTPUT
    yield "It printed" + (" (only the beginning is shown)" if is_cut else "")
    yield for_markdown_block(printed.text[:_MOST_OUTPUT])


def _notes(view: StudentView) -> Iterator[str]:
    if view.notes:
        yield "\n".join(["### Noticed on the way", "", *(f"- {for_markdown(note)}" for note in view.notes)])


def _facts(view: StudentView) -> str:
    seed = "" if view.seed is None else f", seed {view.seed}"
    made = f"{view.created:%Y-%m-%d %H:%M %Z}".strip()
    grader, torch = for_github_prose(view.grader_version), for_github_prose(view.torch)
    passed = sum(check.verdict is Verdict.PASSED for check in view.checks)
    return f"{passed} of {len(view.checks)} checks pass. Graded {made} by grader {grader}, torch {torch}{seed}."
