"""grades.csv: a line per submission, for spreadsheets and gradebooks."""

import csv
import io
from decimal import Decimal

from grader.render.overview import Overview, Row
from grader.show import for_csv_cell


def grades_csv(overview: Overview) -> str:
    """Write the scores as CSV: id, status, score, max_score, a column per part, first_problem, isolation.

    A score that is null is an empty cell. Lines end in a bare newline; the file is meant to be UTF-8.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    parts = [part.name for part in overview.parts]
    writer.writerow(["id", "status", "score", "max_score", *map(for_csv_cell, parts), "first_problem", "isolation"])
    isolation = overview.header.grader.isolation.value
    writer.writerows([*_cells(row, parts), isolation] for row in overview.rows)
    return text.getvalue()


def _cells(row: Row, parts: list[str]) -> list[str]:
    return [
        for_csv_cell(row.id),
        row.status.value,
        _number(row.score),
        _number(row.max_score),
        *(_number(row.parts.get(part)) for part in parts),
        for_csv_cell(row.first_problem),
    ]


def _number(points: Decimal | None) -> str:
    return "" if points is None else f"{points:.2f}"
