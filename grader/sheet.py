"""A table that a person keeps in a spreadsheet and saved as CSV: read whole, or refused with the line that is wrong.

Spreadsheets write a byte order mark, semicolons or tabs for commas, and columns of blanks behind the last one; all that
is read. What is not UTF-8 is refused, because a guess would misspell names.
"""

import csv
import difflib
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.fault import Fault
from grader.show import for_terminal

DELIMITERS = (",", ";", "\t")
BOM = "\ufeff"
#: Bytes of a table; a roster of fifty thousand people is smaller.
_MOST_BYTES = 16 * 2**20
#: Characters of a cell that a message quotes.
_LONGEST_QUOTE = 40
#: How UTF-16 and a workbook begin.
_NO_TEXT = (b"\xff\xfe", b"\xfe\xff", b"PK\x03\x04")
_SAVE_ANEW = "save it in the spreadsheet as 'CSV UTF-8'"


class SheetError(Fault):
    """The table cannot be used; the text says in which line, what was found and what was wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Cells without blanks around them, and where they stand."""

    where: str
    #: Number of the line in which they begin, from 1.
    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A head, and rows as wide as it is. Rows of blanks are left out; a file of blanks has a head of no cells."""

    head: Row
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of the table, its cells by the names of the wanted columns."""

    where: str
    cells: dict[str, str]


def read_table(file: Path, is_known: Callable[[str], bool]) -> Table:
    """Read a table.

    Args:
        file: the file.
        is_known: whether the head of a column is one of those wanted; tells commas, semicolons and tabs apart.

    Raises:
        SheetError: it cannot be read, is no UTF-8, or a line does not fit the head.
    """
    text = decoded(_data(file), str(file), f"the file is perhaps Latin-1 or Windows-1252: {_SAVE_ANEW}")
    text = text.removeprefix(BOM)
    rows = _rows(file, text, delimiter_of({one: _head(text, one) for one in DELIMITERS}, is_known))
    head = next(rows, Row(where=f"{file}, line 1", line=1, cells=()))
    return Table(head=head, rows=tuple(_fitting(row, len(head.cells)) for row in rows))


def read_sheet(file: Path, columns: Sequence[str]) -> list[Line]:
    """The lines below the head. Other columns than the wanted ones are ignored.

    Raises:
        SheetError: as `read_table`, or it lacks a column.
    """
    table = read_table(file, lambda head: head.lower() in columns)
    places = _places(table.head.where, [cell.lower() for cell in table.head.cells], columns)
    return [
        Line(where=row.where, cells={name: row.cells[place] for name, place in places.items()}) for row in table.rows
    ]


def decoded(data: bytes, where: str, advice: str) -> str:
    """The text of a file, with its byte order mark. Raises SheetError, which ends with the advice, for no UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = len(re.findall(rb"\r\n|\r|\n", data[: error.start])) + 1
        byte = f"0x{data[error.start]:02x}"
        raise SheetError(f"{where}, line {line}: byte {byte} is not UTF-8; {advice}") from None


def delimiter_of(heads: Mapping[str, Sequence[str]], is_known: Callable[[str], bool]) -> str:
    """What stands between cells, by the heads that a file has with each: most of them known, then most of them."""
    return max(heads, key=lambda one: (sum(map(is_known, heads[one])), len(heads[one])))


def quoted(cell: str) -> str:
    """A cell for a message."""
    shown = for_terminal(" ".join(cell.split()))
    return repr(shown if len(shown) <= _LONGEST_QUOTE else shown[: _LONGEST_QUOTE - 1] + "…")


def _data(file: Path) -> bytes:
    try:
        with open(file, "rb") as opened:
            data = opened.read(_MOST_BYTES + 1)
    except OSError as error:
        raise SheetError(f"{file}: cannot be read: {error.strerror}; wanted a table, as a CSV file") from None
    if len(data) > _MOST_BYTES:
        raise SheetError(f"{file}: more than {_MOST_BYTES // 2**20} MiB; wanted a small table of text")
    if data.startswith(_NO_TEXT):
        raise SheetError(f"{file} is no CSV file in UTF-8; {_SAVE_ANEW}")
    return data


def _head(text: str, delimiter: str) -> list[str]:
    first = next((line for line in text.splitlines() if line.strip()), "")
    return [cell.strip().strip('"').strip() for cell in first.split(delimiter)]


def _rows(file: Path, text: str, delimiter: str) -> Iterator[Row]:
    """Rows that are not blank."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        where = f"{file}, line {line}"
        try:
            cells = tuple(cell.strip() for cell in next(reader))
        except StopIteration:
            return
        except csv.Error as error:
            raise SheetError(
                f"{where}: {error}; look for a quotation mark that is not closed. One within a cell is written twice, "
                "with quotation marks around the cell"
            ) from None
        if any(cells):
            yield Row(where=where, line=line, cells=cells)


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


def _fitting(row: Row, width: int) -> Row:
    """The row, as wide as the head."""
    if any(row.cells[width:]):
        raise SheetError(
            f"{row.where}: {len(row.cells)} cells, where the head has {width}; a text that holds the sign between "
            'cells stands in double quotes: "so, and so"'
        )
    cells = [*row.cells, *[""] * (width - len(row.cells))][:width]
    return Row(where=row.where, line=row.line, cells=tuple(cells))
