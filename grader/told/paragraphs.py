"""What a student may see, as paragraphs, for wherever a page does not fit: a comment, a test's output.

Made from a `StudentView` and nothing else. Each paragraph keeps apart what the course or the grader says from what may
hold a student's own characters, so that every writer can treat the second as its target needs.
"""

import enum
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from html import escape

from grader.adjustment import AdjustmentKind
from grader.record import points_text
from grader.render.agreement import agreements
from grader.render.causes import Cause, find_causes
from grader.report import Status
from grader.show import for_html, for_terminal
from grader.student_records import StudentAdjustment, StudentDiagnosis, StudentPart, StudentView

#: Things to fix that are told one by one: a comment is read from its top.
_MOST_CAUSES = 8


class Kind(enum.Enum):
    """How a paragraph stands on a page."""

    HEADING = enum.auto()
    LINE = enum.auto()
    #: One of a list.
    ITEM = enum.auto()
    #: Lines that keep their breaks and blanks.
    VERBATIM = enum.auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """A paragraph. `quoted` may hold a student's characters; of a verbatim one it is all there is."""

    kind: Kind
    #: The course's words and the grader's.
    text: str = ""
    #: Text to be shown as what it is, behind the other.
    quoted: str = ""


def title(view: StudentView) -> str:
    """The result in a line."""
    if view.final_score is None:
        return "not graded"
    return f"{points_text(view.final_score)} of {points_text(view.max_score)} points"


def feedback(view: StudentView) -> list[Paragraph]:
    """All that is to be said of a submission, points first, then mistakes, then what else fails."""
    return [*_points(view), *_mistakes(view), *_rest(view)]


def points_of(view: StudentView) -> list[Paragraph]:
    """How the points come about."""
    return list(_points(view))


def mistake_paragraphs(view: StudentView) -> list[Paragraph]:
    """The recognised mistakes; empty where there are none."""
    return list(_mistakes(view))


def sections(paragraphs: Iterable[Paragraph]) -> list[str]:
    """Plain text: each heading with what stands below it."""
    found: list[list[str]] = []
    for one in paragraphs:
        if one.kind is Kind.HEADING or not found:
            found.append([])
        text = " ".join(filter(None, [one.text, one.quoted]))
        found[-1].append(f"- {text}" if one.kind is Kind.ITEM else text)
    return [for_terminal("\n".join(lines)) for lines in found]


def as_text(paragraphs: Iterable[Paragraph]) -> str:
    """All of it as plain text, for where nothing is markup."""
    return "\n\n".join(sections(paragraphs))


def as_html(paragraphs: Iterable[Paragraph]) -> str:
    """HTML in one line, with the plainest tags there are and no markup of anybody else."""
    return "".join(map(_html, paragraphs))


def _html(one: Paragraph) -> str:
    text = escape(for_html(" ".join(filter(None, [one.text, one.quoted]))))
    if one.kind is Kind.VERBATIM:
        return f"<pre>{text}</pre>".replace("\n", "<br>")
    if one.kind is Kind.HEADING:
        return f"<p><strong>{text}</strong></p>"
    return f"<p>{'• ' if one.kind is Kind.ITEM else ''}{text}</p>".replace("\n", "<br>")


def _points(view: StudentView) -> Iterator[Paragraph]:
    yield Paragraph(
        kind=Kind.HEADING,
        text=f"{' '.join(view.assignment_title.split())}: {title(view)}",
    )
    if view.status is not Status.GRADED:
        yield Paragraph(kind=Kind.LINE, quoted=view.reason or "")
    if view.adjustments:
        yield Paragraph(kind=Kind.LINE, text=f"The code earned {points_text(view.score, 'no')} points.")
        yield from map(_adjustment, view.adjustments)
    yield from (Paragraph(kind=Kind.ITEM, text=_part(part)) for part in view.parts)
    for one in agreements(view.checks):
        yield Paragraph(kind=Kind.ITEM, text=f"{one.callable}, {one.text}.")
    for note in view.notes:
        yield Paragraph(kind=Kind.LINE, text="Note:", quoted=note)


def _adjustment(one: StudentAdjustment) -> Paragraph:
    """What was done to the score, by how much, and why."""
    what = "Handed in late" if one.kind is AdjustmentKind.LATE else "Decided by the course staff"
    about = f" about “{one.check}”" if one.check else ""
    return Paragraph(kind=Kind.ITEM, text=f"{what}{about}: {one.points:+.2f} points.", quoted=one.reason)


def _part(part: StudentPart) -> str:
    points = f"{part.title}: {points_text(part.score, '–')} of {points_text(part.max_score)} points"
    charged = charged_texts(part)
    return f"{points}. Charged once instead of for each check: {'; '.join(charged)}" if charged else points


def charged_texts(part: StudentPart) -> list[str]:
    """Each mistake that was charged in a part, with its price there."""
    prices: dict[str, Decimal] = {}
    for charge in part.charged:
        prices[charge.title] = prices.get(charge.title, Decimal(0)) + charge.price
    return [f"{title} ({f'−{price:.2f}' if price else 'already charged'})" for title, price in prices.items()]


def _mistakes(view: StudentView) -> Iterator[Paragraph]:
    for diagnosis in view.diagnoses:
        yield from _mistake(diagnosis)
    for name in view.unrecognised:
        yield Paragraph(kind=Kind.LINE, text=f"{name} is wrong in a way that is not one of the known mistakes.")


def _mistake(diagnosis: StudentDiagnosis) -> Iterator[Paragraph]:
    yield Paragraph(kind=Kind.HEADING, text=f"{diagnosis.title} (in {', '.join(diagnosis.callables)})")
    if diagnosis.alternatives:
        yield Paragraph(kind=Kind.LINE, text="Or, which nothing tells from it: " + "; ".join(diagnosis.alternatives))
    for text in (diagnosis.explanation, diagnosis.hint):
        if text:
            yield Paragraph(kind=Kind.LINE, text=text)
    if diagnosis.evidence:
        yield Paragraph(kind=Kind.VERBATIM, quoted=diagnosis.evidence)


def _rest(view: StudentView) -> Iterator[Paragraph]:
    """What fails and is not explained by a mistake above, each thing to fix once; then what hidden checks say."""
    explained = {check for diagnosis in view.diagnoses for check in diagnosis.checks}
    causes = find_causes(view.checks, {part.name: part.file for part in view.parts})
    told = [one for one in causes if not (one.is_silent or all(check.id in explained for check in one.checks))]
    for cause in told[:_MOST_CAUSES]:
        yield from _cause(cause)
    if len(told) > _MOST_CAUSES:
        yield Paragraph(kind=Kind.LINE, text=f"And {len(told) - _MOST_CAUSES} more that do not pass, left out here.")
    silent = [check for cause in causes if cause.is_silent for check in cause.checks]
    if silent:
        yield Paragraph(kind=Kind.HEADING, text="Hidden checks that do not pass")
    for check in silent:
        yield Paragraph(kind=Kind.ITEM, text=f"{check.title}: {check.verdict.label}")


def _cause(cause: Cause) -> Iterator[Paragraph]:
    yield Paragraph(kind=Kind.HEADING, text=f"{cause.verdict.marker} {cause.verdict.label}: {cause.heading}")
    if cause.message:
        yield Paragraph(kind=Kind.VERBATIM, quoted=cause.message)
    if cause.hint:
        yield Paragraph(kind=Kind.LINE, text="Hint:", quoted=cause.hint)
    if cause.held_up:
        yield Paragraph(kind=Kind.LINE, text=f"Judged once this is fixed: {len(cause.held_up)} more.")
