"""The gradebook of Canvas: one column of the course's own export, filled.

Sources: instructure/canvas-lms, lib/gradebook_exporter.rb for what an export holds, lib/gradebook_importer.rb for what
an import makes of it. An import compares whole columns: a blank over a score takes the score away, an unknown title
makes a new assignment, a student without the assignment ("N/A") gets nothing. So a template is needed, and nothing but
scores is written.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from grader.export.amounts import has_decimal_comma, read_points, scaled
from grader.export.error import ExportError
from grader.export.filling import Filling, begin, must_place_somebody, put
from grader.export.persons import Listed, owners_of, place
from grader.export.template import Row, Template, read_template
from grader.record import points_text
from grader.report import Report, Submission

HOW_TO_GET_IT = (
    "the course's own gradebook export is needed: in Canvas, Grades > Export > Export Entire Gradebook; then "
    "--template FILE.csv"
)
_ASSIGNMENT = re.compile(r"(?P<title>.*\S)\s*\((?P<id>\d+)\)")
# Columns that Canvas computes; its importer looks for these words anywhere in a title.
_COMPUTED = re.compile(r"(Current|Final) (Score|Points|Grade)|Override (Score|Grade|Status)")
_READ_ONLY = re.compile(r"read\s+only")
_POSTING = re.compile(r"\s*(Muted|Manual Posting.*)?\s*", re.IGNORECASE)
_FIXED = {
    "ex": "excused in Canvas (EX)",
    "n/a": "not assigned to this student, or hidden (N/A): Canvas takes no score for it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """The column of an assignment."""

    at: int
    head: str
    title: str
    id: str
    #: What it is worth in Canvas; None where the export does not say.
    points: Decimal | None
    is_read_only: bool


def fill(
    report: Report, chosen: Sequence[Submission], data: bytes, where: str, column: str | None, is_scaled: bool
) -> tuple[bytes, Filling]:
    """Fill the column of the assignment.

    Args:
        report: the whole report.
        chosen: the submissions whose scores are written.
        data: the gradebook's export.
        where: its name.
        column: the column's head, the assignment's id in Canvas, or (a part of) its title; None for the report's title.
        is_scaled: whether scores are scaled where the assignment is worth another number of points in Canvas.

    Returns:
        The file to import, and what was done.

    Raises:
        ExportError: the file is no gradebook, has no such column or several, or is worth other points.
    """
    template = read_template(data, where, ["ID", "Section"], HOW_TO_GET_IT)
    wanted = _choose(_columns(template), column, report.assignment.title, where)
    _must_be_worth(wanted, report.assignment.max_score, is_scaled, where)
    rows = [_listed(template, at, row) for at, row in enumerate(template.rows) if at and _is_student(row)]
    places = place(owners_of(chosen), owners_of(report.submissions), rows)
    must_place_somebody(places, rows, where, "course")
    filling, todo = begin(wanted.head, places, rows)
    has_comma = has_decimal_comma(_numbers(template), template.delimiter)
    for row, _, score in todo:
        points = score if wanted.points is None else scaled(score, report.assignment.max_score, wanted.points)
        old = template.rows[row.row][wanted.at]
        put(filling, (row.row, wanted.at), row.label, old, points_text(points), has_comma, _FIXED)
    return template.with_cells(filling.cells), filling


def _columns(template: Template) -> list[Column]:
    """The columns of assignments: those with an id, but for what Canvas computes."""
    worth = next((row for row in template.rows[1:] if "Points Possible" in row[0]), None)
    columns = []
    for at, head in enumerate(template.head):
        match = _ASSIGNMENT.fullmatch(head)
        if match is None or _COMPUTED.search(head):
            continue
        text = worth[at] if worth else ""
        columns.append(
            Column(
                at=at,
                head=head,
                title=match["title"],
                id=match["id"],
                points=read_points(text),
                is_read_only=_READ_ONLY.search(text) is not None,
            )
        )
    return columns


def _choose(columns: Sequence[Column], asked: str | None, title: str, where: str) -> Column:
    """The one column that is meant; by the assignment's title when nothing was asked for."""
    found = _meant(columns, title if asked is None else asked)
    if len(found) == 1 and not found[0].is_read_only:
        return found[0]
    what = f"{title!r}, the title in the report" if asked is None else repr(asked)
    if len(found) == 1:
        raise ExportError(f"{where}: the column {found[0].head!r} is read only in Canvas; choose another with --column")
    there = ", ".join(repr(one.head) for one in (found or columns)) or "none"
    if found:
        raise ExportError(f"{where}: several assignments are meant by {what}: {there}; give the id with --column ID")
    raise ExportError(f"{where}: no assignment is called {what}; choose one with --column, by title or id: {there}")


def _meant(columns: Sequence[Column], asked: str) -> list[Column]:
    """By the first of these that fits any: the whole head, the id, the title, a part of the title."""
    folded = asked.strip().casefold()
    fits: list[Callable[[Column], bool]] = [
        lambda one: one.head == asked.strip(),
        lambda one: one.id == folded,
        lambda one: one.title.casefold() == folded,
        lambda one: folded in one.title.casefold(),
    ]
    return next((found for fit in fits if (found := list(filter(fit, columns)))), [])


def _must_be_worth(column: Column, max_score: Decimal, is_scaled: bool, where: str) -> None:
    if column.points is None or column.points == max_score or (is_scaled and column.points and max_score):
        return
    raise ExportError(
        f"{where}: {column.head!r} is worth {points_text(column.points)} points in Canvas, and "
        f"{points_text(max_score)} in the report; change it in Canvas, or have the scores scaled with --scale"
    )


def _is_student(row: Row) -> bool:
    """Whether a row is of a person, and not of what the assignments are worth or how they are posted."""
    return "Points Possible" not in row[0] and not all(_POSTING.fullmatch(cell.text) for cell in row.cells)


def _listed(template: Template, at: int, row: Row) -> Listed:
    cells = {title: row[column] for column, title in reversed(list(enumerate(template.head)))}
    name = cells.get("Student") or ", ".join(filter(None, [cells.get("LastName"), cells.get("FirstName")]))
    login = cells.get("SIS Login ID", "")
    return Listed(
        row=at,
        label=f"{name} ({cells['ID']})",
        numbers=(cells["ID"], cells.get("SIS User ID", "")),
        logins=(login, cells.get("SIS User ID", "")),
        emails=(login,),
        names=(name,),
    )


def _numbers(template: Template) -> Iterator[str]:
    first = template.head.index("Section") + 1
    return (cell.text for row in template.rows[1:] for cell in row.cells[first:])
