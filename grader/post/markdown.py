"""A student's result as Markdown for GitHub: the comment, the text of the check, the summary of the job.

The words of the course stand in it as prose. Whatever a student chose, or their code gave, stands in code spans and
blocks, where GitHub reads no markup, mention, reference, link or image.
"""

from collections.abc import Iterator
from decimal import Decimal

from grader.post.failures import CHARGED, Group, failures, message_of, points
from grader.report import Status
from grader.show import for_github_html, for_github_prose, for_markdown, for_markdown_block
from grader.student_view import StudentAdjustment, StudentCharge, StudentDiagnosis, StudentView
from grader.verdict import Verdict

#: Said where not everything fits.
LEFT_OUT = "The rest is left out here, because GitHub takes no longer text. All of it is in the report of the run."
#: Characters of what a student's code printed.
_MOST_OUTPUT = 2000


def title(view: StudentView) -> str:
    """The result in a line, for the title of a check."""
    if view.final_score is None:
        return "not graded"
    return f"{view.final_score:.2f} of {view.max_score:.2f} points"


def pieces(view: StudentView) -> list[str]:
    """The result in pieces of Markdown, the most important first."""
    return [
        f"## {for_github_prose(view.assignment_title)}: {title(view)}",
        *_adjustments(view),
        *_reason(view),
        *_parts(view),
        *_diagnoses(view),
        *_failures(view),
        *_hidden(view),
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
        score = f"{_points(part.score)} of {part.max_score:.2f}"
        rows.append(f"| {for_github_prose(part.title)} | {for_markdown(part.file)} | {score} |")
    yield "\n".join(rows)
    charged = [f"- {_charge(charge)}" for part in view.parts for charge in part.charged]
    if charged:
        yield "\n".join([f"{CHARGED}:", "", *charged])


def _charge(charge: StudentCharge) -> str:
    before = ", charged before" if charge.is_carried else ""
    return f"{for_github_prose(charge.part)}: {charge.price:.2f} for: {for_github_prose(charge.title)}{before}"


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
    visible = [check for check in view.checks if check.visible]
    groups = failures(visible)
    if groups:
        yield f"### Checks that did not pass: {sum(map(len, groups))} of {len(visible)}"
    for group in groups:
        yield "\n\n".join([f"<details><summary>{_head(group)}</summary>", *_body(group), "</details>"])


def _head(group: Group) -> str:
    more = f" and {len(group) - 1} more" if len(group) > 1 else ""
    return f"{for_github_html(group[0].title)}{more}: {group[0].verdict.label}, {points(group)}"


def _body(group: Group) -> Iterator[str]:
    first = group[0]
    if len(group) > 1:
        yield "\n".join(f"- {for_github_prose(check.title)}" for check in group)
    elif first.description:
        yield for_github_prose(first.description)
    if first.message:
        yield for_markdown_block(message_of(first) if len(group) == 1 else first.message)
    elif first.blocked_by:
        yield f"First make this right: {for_markdown(first.blocked_by)}"
    if first.output:
        is_cut = first.output_cut or len(first.output) > _MOST_OUTPUT
        yield "It printed" + (" (only the beginning is shown)" if is_cut else "")
        yield for_markdown_block(first.output[:_MOST_OUTPUT])


def _hidden(view: StudentView) -> Iterator[str]:
    failed = [check for check in view.checks if not check.visible and check.verdict is not Verdict.PASSED]
    if failed:
        rows = [f"- {for_github_prose(check.title)}: {check.verdict.label}" for check in failed]
        yield "\n".join([f"### Hidden checks that did not pass: {len(failed)}", "", *rows])


def _notes(view: StudentView) -> Iterator[str]:
    if view.notes:
        yield "\n".join(["### Noticed on the way", "", *(f"- {for_markdown(note)}" for note in view.notes)])


def _facts(view: StudentView) -> str:
    seed = "" if view.seed is None else f", seed {view.seed}"
    made = f"{view.created:%Y-%m-%d %H:%M %Z}".strip()
    grader, torch = for_github_prose(view.grader_version), for_github_prose(view.torch)
    return f"Graded {made} by grader {grader}, torch {torch}{seed}."


def _points(score: Decimal | None) -> str:
    return "–" if score is None else f"{score:.2f}"
