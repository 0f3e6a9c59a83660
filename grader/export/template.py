"""A CSV file that somebody exported, held so that single cells can be written and every other byte stays.

Delimiter, byte order mark, line ends, quotes and the order of rows are the exporting tool's own, and it may mind them.
The csv module reads such a file but forgets how each cell was written, so cells are found here with their places.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from grader.export.error import ExportError
from grader.sheet import BOM, DELIMITERS, decoded, delimiter_of

#: Titles that a message quotes, and characters of each.
_MOST_TITLES, _LONGEST_TITLE = 20, 60
_LINE_END = re.compile(r"\r\n|\r|\n")


class Cell(NamedTuple):
    """A cell as a reader of CSV gets it, and from where to where it stands in the file, quotes included."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the table; with line breaks in quotes it is several of the file."""

    #: Number of the first of its lines, from 1.
    line: int
    cells: tuple[Cell, ...]

    def __getitem__(self, column: int) -> str:
        """The text of a cell, without blanks around it; empty where the row is too short to have it."""
        return self.cells[column].text.strip() if column < len(self.cells) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The file. `rows` begins with the head; lines without anything are not in it."""

    where: str
    source: str
    has_bom: bool
    delimiter: str
    rows: tuple[Row, ...]

    @property
    def head(self) -> list[str]:
        """Titles of the columns."""
        return [cell.text.strip() for cell in self.rows[0].cells]

    def with_cells(self, changes: Mapping[tuple[int, int], str]) -> bytes:
        """The file with other texts in some cells, by row and column; all else as it was."""
        pieces, at = [BOM if self.has_bom else ""], 0
        for (row, column), text in sorted(changes.items()):
            start, end, written = self._written(self.rows[row].cells, column, text)
            pieces += [self.source[at:start], written]
            at = end
        return "".join([*pieces, self.source[at:]]).encode()

    def _written(self, cells: Sequence[Cell], column: int, text: str) -> tuple[int, int, str]:
        if column >= len(cells):  # some tools leave out what is empty at the end of a line
            missing = self.delimiter * (column - len(cells) + 1)
            return cells[-1].end, cells[-1].end, missing + self._quoted(text, is_quoted=False)
        cell = cells[column]
        return cell.start, cell.end, self._quoted(text, is_quoted=self.source[cell.start : cell.start + 1] == '"')

    def _quoted(self, text: str, is_quoted: bool) -> str:
        if is_quoted or any(sign in text for sign in (self.delimiter, '"', "\r", "\n")):
            return '"' + text.replace('"', '""') + '"'
        return text


def read_template(data: bytes, where: str, wanted: Iterable[str], advice: str) -> Template:
    """Read a file that is separated by commas, semicolons or tabs.

    Args:
        data: the file.
        where: its name, for messages.
        wanted: titles that its head must have.
        advice: what to do where it has not.

    Raises:
        SheetError: it is not UTF-8.
        ExportError: it is damaged, or has no such head.
    """
    text = decoded(
        data, where, "download the file anew, and hand it over without opening and saving it in a spreadsheet"
    )
    source = text.removeprefix(BOM)
    titles = list(wanted)
    found = {delimiter: _head(source, delimiter) for delimiter in DELIMITERS}
    delimiter = delimiter_of(found, lambda head: head in titles)
    missing = [title for title in titles if title not in found[delimiter]]
    if missing:
        likeliest = max(found.values(), key=len)
        raise ExportError(
            f"{where}: no column {_listed(missing)}; its first line has {_some(likeliest) or 'nothing'}; {advice}"
        )
    rows = tuple(_rows(source, delimiter, where))
    return Template(where=where, source=source, has_bom=text != source, delimiter=delimiter, rows=rows)


def _some(titles: Sequence[str]) -> str:
    """What shows a person which file it is, however long its first line."""
    shown = _listed([title[:_LONGEST_TITLE] for title in titles[:_MOST_TITLES]])
    return f"{shown}, ..." if len(titles) > _MOST_TITLES else shown


def _head(source: str, delimiter: str) -> list[str]:
    try:
        first = next(iter(_rows(source, delimiter, "")), None)
    except ExportError:
        return []
    return [cell.text.strip() for cell in first.cells] if first else []


def _rows(source: str, delimiter: str, where: str) -> Iterable[Row]:
    """The rows, one at a time. A quote inside a cell that does not begin with one is a character like others."""
    cell = re.compile(f'"([^"]*(?:""[^"]*)*)"|[^{re.escape(delimiter)}\r\n]*')
    at, line, length = 0, 1, len(source)
    while at < length:
        first, cells = line, []
        while True:
            match = cell.match(source, at)
            assert match is not None, "the second form matches anything, and nothing"
            at = match.end()
            following = source[at : at + 1]
            quoted = match[1]
            if quoted is None and match[0].startswith('"'):
                raise _damaged(where, first, "a quote is opened and never closed")
            if following not in ("", delimiter, "\r", "\n"):
                raise _damaged(where, line, f"there is {following!r} behind a closing quote")
            line += len(_LINE_END.findall(match[0])) if quoted is not None else 0
            cells.append(Cell(match[0] if quoted is None else quoted.replace('""', '"'), match.start(), at))
            if following != delimiter:
                break
            at += 1
        end = _LINE_END.match(source, at)
        at = end.end() if end else length
        line += 1
        if len(cells) > 1 or cells[0].end > cells[0].start:
            yield Row(line=first, cells=tuple(cells))


def _damaged(where: str, line: int, what: str) -> ExportError:
    return ExportError(f"{where}, line {line}: {what}; the file is damaged: download it anew")


def _listed(titles: Iterable[str]) -> str:
    return ", ".join(repr(title) for title in titles)
