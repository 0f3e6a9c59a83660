"""A table that a person keeps in a spreadsheet and saved as CSV: read whole, or refused with the line that is wrong.

Spreadsheets write a byte order mark, semicolons or tabs for commas, and columns of blanks behind the last one; all that
is read. What is not UTF-8 is refused, because a guess would misspell names.
"""

import csv
import difflib
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.fault import Fault
from grader.show import for_terminal

_DELIMITERS = (",", ";", "\t")
_MOST_BYTES = 16 * 2**20
#: Characters of a cell that a message quotes.
_LONGEST_QUOTE = 40


class SheetError(Fault):
    """The table cannot be used; the text says in which line, what was found and what was wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of the table, its cells by the names of the wanted columns, without blanks around them."""

    where: str
    cells: dict[str, str]


def read_sheet(file: Path, columns: Sequence[str]) -> list[Line]:
    """The lines below the head, those of blanks left out. Other columns than the wanted ones are ignored.

    Raises:
        SheetError: it cannot be read, is no UTF-8, lacks a column, or a line does not fit the head.
    """
    text = _text(file)
    delimiter = max(_DELIMITERS, key=lambda one: _known(_head(text, one), columns))  # the first, where none is better
    rows = _rows(file, text, delimiter)
    where, head = next(rows, (f"{file}, line 1", []))
    places = _places(where, [cell.lower() for cell in head], columns)
    return [
        Line(where=where, cells={name: cells[place] for name, place in places.items()})
        for where, cells in _whole(rows, len(head))
    ]


def quoted(cell: str) -> str:
    """A cell for a message."""
    shown = for_terminal(" ".join(cell.split()))
    return repr(shown if len(shown) <= _LONGEST_QUOTE else shown[: _LONGEST_QUOTE - 1] + "…")


def _text(file: Path) -> str:
    try:
        with open(file, "rb") as opened:
            data = opened.read(_MOST_BYTES + 1)
    except OSError as error:
        raise SheetError(f"{file}: cannot be read: {error.strerror}") from None
    if len(data) > _MOST_BYTES:
        raise SheetError(f"{file}: more than {_MOST_BYTES // 2**20} MiB; wanted a small table of text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = len(re.findall(rb"\r\n|\r|\n", data[: error.start])) + 1
        raise SheetError(
            f"{file}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8; save the table as UTF-8, which "
            "spreadsheets call CSV UTF-8"
        ) from None


def _head(text: str, delimiter: str) -> list[str]:
    first = next((line for line in text.splitlines() if line.strip()), "")
    return [cell.strip().strip('"').strip().lower() for cell in first.split(delimiter)]


def _known(head: Sequence[str], columns: Sequence[str]) -> int:
    return sum(name in head for name in columns)


def _rows(file: Path, text: str, delimiter: str) -> Iterator[tuple[str, list[str]]]:
    """Rows that are not blank, with the line they begin in."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        where = f"{file}, line {reader.line_num + 1}"
        try:
            cells = [cell.strip() for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error as error:
            raise SheetError(f"{where}: {error}; look for a quotation mark that is not closed") from None
        if any(cells):
            yield where, cells


def _places(where: str, head: list[str], columns: Sequence[str]) -> dict[str, int]:
    for name in columns:
        if name not in head:
            close = difflib.get_close_matches(name, head, n=1)
            found = (
                f"did you mean it by {quoted(close[0])}?" if close else f"got {', '.join(map(quoted, head)) or 'none'}"
            )
            raise SheetError(f"{where}: no column is called {name!r}; wanted {', '.join(columns)}; {found}")
        if head.count(name) > 1:
            raise SheetError(f"{where}: two columns are called {name!r}; leave one")
    return {name: head.index(name) for name in columns}


def _whole(rows: Iterator[tuple[str, list[str]]], width: int) -> Iterator[tuple[str, list[str]]]:
    """The rows, as wide as the head."""
    for where, cells in rows:
        if any(cells[width:]):
            raise SheetError(
                f"{where}: {len(cells)} cells, where the head has {width}; a text that holds the sign between cells "
                'stands in double quotes: "so, and so"'
            )
        yield where, [*cells, *[""] * (width - len(cells))][:width]
