"""grades.csv: a line per submission, for spreadsheets and gradebooks."""

import csv
import io
from decimal import Decimal

from grader.render.overview import Overview, Row
from grader.show import for_csv_cell


def grades_csv(overview: Overview) -> str:
    """Write the scores as CSV: id, status, score, max_score, a column per part, adjustment, first_problem, isolation,
    final_score, late, overrides.

    Name and email of those who handed it in come last, as far as they are known; several of a group in one cell.

    The adjustment is what charging each mistake once, instead of per check, added to the score or took from it; the
    score and those of the parts hold it already. It is empty where that is nothing, and so is a score that is null.
    The final score counts: the score with the points taken for late days and those that staff decided on.

    Lines end in a bare newline; the file is meant to be UTF-8.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    parts = [part.name for part in overview.parts]
    heads = [
        "id",
        "status",
        "score",
        "max_score",
        *map(for_csv_cell, parts),
        "adjustment",
        "first_problem",
        "isolation",
        "final_score",
        "late",
        "overrides",
        "name",
        "email",
    ]
    writer.writerow(heads)
    isolation = overview.header.grader.isolation.value
    writer.writerows([*_cells(row, parts), isolation, *_final(row), *_people(row)] for row in overview.rows)
    return text.getvalue()


def _cells(row: Row, parts: list[str]) -> list[str]:
    return [
        for_csv_cell(row.id),
        row.status.value,
        _number(row.score),
        _number(row.max_score),
        *(_number(row.parts.get(part)) for part in parts),
        _number(row.adjustment),
        for_csv_cell(row.first_problem),
    ]


def _final(row: Row) -> list[str]:
    return [_number(row.final_score), _number(row.late), _number(row.overrides)]


def _people(row: Row) -> list[str]:
    """Who handed it in; several in a group."""
    return [for_csv_cell(row.name), for_csv_cell(row.email)]


def _number(points: Decimal | None) -> str:
    return "" if points is None else f"{points:.2f}"
