"""The offline grading worksheet of a Moodle assignment: the downloaded one, grades filled and, if asked, comments.

Sources: moodle/moodle, mod/assign/gradingtable.php for what a worksheet holds, mod/assign/feedback/offline for what an
import makes of it: rows are known by the number at the end of "Participant 123"; an empty grade, one above the maximum
and one that is locked are passed over. Comments are kept as HTML (mod/assign/feedback/comments/locallib.php). Titles
are in the language of whoever downloaded it.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal

from grader.export.amounts import has_decimal_comma, read_points, scaled
from grader.export.error import ExportError
from grader.export.filling import Filling, begin, must_place_somebody, put
from grader.export.persons import Listed, owners_of, place
from grader.export.template import Row, Template, read_template
from grader.record import points_text
from grader.report import Report, Submission

HOW_TO_GET_IT = (
    "the assignment's own worksheet is needed: in Moodle, the assignment > View all submissions > Download grading "
    "worksheet (switch on in its settings, Feedback types > Offline grading worksheet); then --template FILE.csv"
)
#: English titles of the columns that are read, by what they are.
TITLES = {
    "identifier": "Identifier",
    "name": "Full name",
    "email": "Email address",
    "username": "Username",
    "number": "ID number",
    "grade": "Grade",
    "maximum": "Maximum grade",
    "changeable": "Grade can be changed",
}
_WHICH_IS_WHICH = (
    "wanted a grading worksheet; where its titles are not in English, say which is which, as in "
    f"--title grade=Bewertung ({', '.join(TITLES)}), and name the column of comments with --feedback-column"
)
_NEEDED = ("identifier", "grade", "maximum")
_PARTICIPANT = re.compile(r"\d+$")
#: Begins a comment that was written here, with a hash of the rest: what a person wrote or changed is never replaced.
_MARK = re.compile(r"<!-- grade (?P<digest>[0-9a-f]{16}) -->")
CommentOf = Callable[[Submission], str]


def fill(
    report: Report,
    chosen: Sequence[Submission],
    data: bytes,
    where: str,
    titles: Mapping[str, str],
    is_scaled: bool,
    feedback: tuple[str, CommentOf] | None = None,
) -> tuple[bytes, Filling]:
    """Fill grades, and comments.

    Args:
        report: the whole report.
        chosen: the submissions whose scores are written.
        data: the worksheet.
        where: its name.
        titles: titles of columns that are not in English, by the words of `TITLES`.
        is_scaled: whether scores are scaled where the assignment is worth another number of points in Moodle.
        feedback: title of the column for comments, and what makes the HTML of a student's comment.

    Returns:
        The file to import, and what was done.

    Raises:
        ExportError: the file is no worksheet, or the assignment is worth other points in Moodle.
    """
    names = {**TITLES, **titles}
    wanted = [names[what] for what in _NEEDED] + ([feedback[0]] if feedback else [])
    template = read_template(data, where, wanted, _WHICH_IS_WHICH)
    at = {what: template.head.index(title) for what, title in names.items() if title in template.head}
    rows = [_listed(number, row, at) for number, row in enumerate(template.rows) if number]
    places = place(owners_of(chosen), owners_of(report.submissions), rows)
    must_place_somebody(places, rows, where, "assignment or course")
    maximum = _maximum(template, at["maximum"], where)
    _must_be_worth(maximum, report.assignment.max_score, is_scaled, where)
    filling, todo = begin(names["grade"], places, rows)
    has_comma = has_decimal_comma(_numbers(template, at), template.delimiter)
    for row, owner, score in todo:
        cells = template.rows[row.row]
        if "changeable" in at and cells[at["changeable"]] == "No":
            filling.kept.append((row.label, "the grade cannot be changed in Moodle (locked, or overridden)"))
            continue
        points = scaled(score, report.assignment.max_score, maximum)
        if points > maximum:
            what = f"{points_text(points)} is above the maximum; Moodle passes such a grade over"
            filling.notes.append(f"{row.label}: {what}")
        put(filling, (row.row, at["grade"]), row.label, cells[at["grade"]], points_text(points), has_comma, {})
        if feedback:
            _comment(filling, template, row, template.head.index(feedback[0]), feedback[1](owner.submission))
    return template.with_cells(filling.cells), filling


def _listed(number: int, row: Row, at: Mapping[str, int]) -> Listed:
    def cell(what: str) -> str:
        return row[at[what]] if what in at else ""

    participant = _PARTICIPANT.search(cell("identifier"))
    return Listed(
        row=number,
        label=f"{cell('name')} ({cell('identifier')})" if cell("name") else cell("identifier"),
        numbers=(participant[0] if participant else "", cell("identifier"), cell("number")),
        logins=(cell("username"), cell("number")),
        emails=(cell("email"),),
        names=(cell("name"),),
    )


def _maximum(template: Template, at: int, where: str) -> Decimal:
    """What the assignment is worth in Moodle: the same in every row."""
    texts = {row[at] for row in template.rows[1:]}
    points = {read_points(text) for text in texts}
    if len(points) != 1 or (only := points.pop()) is None:
        raise ExportError(
            f"{where}, {template.head[at]!r}: got {', '.join(map(repr, sorted(texts))) or 'no row'}, wanted one number "
            "of points in every row"
        )
    return only


def _must_be_worth(maximum: Decimal, max_score: Decimal, is_scaled: bool, where: str) -> None:
    if maximum != max_score and not (is_scaled and maximum and max_score):
        raise ExportError(
            f"{where}: the assignment is worth {points_text(maximum)} points in Moodle, and {points_text(max_score)} "
            "in the report; change it in Moodle and download the worksheet anew, or have the scores scaled with --scale"
        )


def _comment(filling: Filling, template: Template, row: Listed, column: int, html: str) -> None:
    """Write a comment where there is none, or only an earlier one of ours."""
    old = template.rows[row.row][column]
    new = f"<!-- grade {_digest(html)} -->{html}"
    mark = _MARK.match(old)
    if old and (mark is None or mark["digest"] != _digest(old[mark.end() :])):
        filling.notes.append(f"{row.label}: has a comment that somebody wrote; it is kept")
    elif old != new:
        filling.cells[row.row, column] = new


def _digest(html: str) -> str:
    return hashlib.sha256(html.encode()).hexdigest()[:16]


def _numbers(template: Template, at: Mapping[str, int]) -> Iterator[str]:
    return (row[at[what]] for what in ("grade", "maximum") for row in template.rows[1:])
