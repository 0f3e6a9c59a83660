"""Points as gradebooks write them: two places, with a point or a comma, and never as binary fractions."""

import re
from collections.abc import Iterable
from decimal import Decimal

from grader.record import round_score

_NUMBER = re.compile(r"-?\d+(?:[.,]\d*)?|-?[.,]\d+", re.ASCII)
_WITH_COMMA = re.compile(r"-?\d*,\d{1,2}")
_WITH_POINT = re.compile(r"-?\d*\.\d{1,2}")


def read_points(text: str) -> Decimal | None:
    """The number in a cell, with a point or a comma; None where it is no number, or one with thousands marked."""
    stripped = text.strip()
    return Decimal(stripped.replace(",", ".")) if _NUMBER.fullmatch(stripped) else None


def has_decimal_comma(cells: Iterable[str], delimiter: str) -> bool:
    """Whether the numbers of a file have a comma; where none has a fraction, semicolons between cells say so.

    Spreadsheets of a language with decimal commas separate cells by semicolons, and read 8.5 as a date.
    """
    with_comma = with_point = 0
    for cell in cells:
        with_comma += bool(_WITH_COMMA.fullmatch(cell.strip()))
        with_point += bool(_WITH_POINT.fullmatch(cell.strip()))
    if with_comma == with_point:
        return delimiter == ";"
    return with_comma > with_point


def scaled(points: Decimal, of: Decimal, to: Decimal) -> Decimal:
    """Points of a maximum as points of another one, rounded half up as all points are."""
    return points if of == to else round_score(points * to / of)
