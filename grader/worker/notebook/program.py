"""The program: a notebook comes in, the text of stub files goes out, in one line of JSON:

    {"files": {NAME: {"text": TEXT, "defines": [NAME, ...], "cells": [[CELL, FIRST, LAST], ...]}, ...},
     "notes": [[KIND, FILE, NAME, [CELL, ...], LINE], ...]}
    {"problem": [KIND, DETAIL, ...]}        nothing could be taken

CELL is [position, number]: the place among all cells, and `In [n]`, or null. A file of which no name is defined is not
there. LINE counts within the cell; it is 0, and FILE and NAME are empty, where a note is about none.
"""

import __future__

import ast
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ..apart import answer, begin
from .cells import Cell, Unusable, read_cells
from .choose import Choice, Statements
from .cut import Piece, cut, join
from .magics import Plain, parsed, plain
from .statements import Statement, statements

_FEATURES = frozenset(__future__.all_feature_names)
#: Characters of a name in a note.
_MOST_NAME = 60
#: Notes of one kind.
_MOST_NOTES = 8


def main(arguments: dict[str, Any]) -> None:
    """Look at the notebook on standard input, then answer."""
    answer(take_apart(begin(arguments), arguments["title"], arguments["asked"], arguments["most"]))


def take_apart(data: bytes, title: str, asked: Mapping[str, Collection[str]], most: int) -> dict[str, Any]:
    """The answer about a notebook.

    Args:
        data: its bytes, which are UTF-8.
        title: what to call it in comments.
        asked: the names of each file, which is named without `.py`; without names it is somebody else's to give.
        most: bytes that all its code may have.
    """
    try:
        return _Notebook(read_cells(data.decode("utf-8-sig"), most), title, asked).answer()
    except Unusable as problem:
        return {"problem": list(problem.args)}
    except MemoryError:
        return {"problem": ["memory"]}


class _Notebook:
    """A notebook, cell by cell."""

    def __init__(self, cells: list[Cell], title: str, asked: Mapping[str, Collection[str]]) -> None:
        self._cells = cells
        self._title = title
        self._asked = {file: names for file, names in asked.items() if names}
        self._notes: list[list[Any]] = []
        self._future: set[str] = set()
        #: By cell: its Python; None where it has none.
        self._texts: list[Plain] = [plain(cell.source or "", asked.keys()) for cell in cells]
        #: Cells that do not parse, with the line.
        self._broken: dict[int, int] = {}
        self._by_cell: dict[int, list[int]] = {}
        self._statements = self._read()

    def answer(self) -> dict[str, Any]:
        files = {file: made for file, names in self._asked.items() if (made := self._file(file, names))}
        self._note_cells(files)
        return {"files": files, "notes": self._notes}

    def _read(self) -> Statements:
        everything: list[Statement] = []
        for at, one in enumerate(self._texts):
            found = self._parse(at, one.text) if one.text is not None else []
            self._by_cell[at] = list(range(len(everything), len(everything) + len(found)))
            everything += found
        written = {one.module for one in self._texts if one.module}
        read = Statements(everything, {*self._asked, *written})
        for at, one in enumerate(self._texts):
            read.lose(one.lost, at)
        return read

    def _parse(self, at: int, text: str) -> list[Statement]:
        try:
            found = statements(at, parsed(text))
        except SyntaxError as error:
            self._broken[at] = max(error.lineno or 1, 1)
            return []
        for one in found:
            if isinstance(one.node, ast.ImportFrom) and one.node.module == "__future__":
                self._future.update(_FEATURES.intersection(alias.name for alias in one.node.names))
        return found

    # --- one file ---------------------------------------------------------------------------------------------

    def _file(self, file: str, names: Collection[str]) -> dict[str, Any] | None:
        choice = self._statements.choose(names)
        broken = self._broken_cells_of(names, choice)
        if not choice.defined:
            return None
        self._note_choice(file, names, choice)
        pieces = [
            Piece(at, text)
            for at in range(len(self._cells))
            if (text := self._piece(at, choice, at in broken)) is not None
        ]
        head = f"from __future__ import {', '.join(sorted(self._future))}" if self._future else ""
        text, placed = join(pieces, [self._title_of(piece.cell) for piece in pieces], head)
        cells = [[self._shown(one.cell), one.first, one.last] for one in placed]
        return {"text": text, "defines": sorted(choice.defined), "cells": cells}

    def _broken_cells_of(self, names: Collection[str], choice: Choice) -> set[int]:
        """Cells that do not parse and were to define what nothing else does: their student shall see the error."""
        missing = [name for name in names if name not in choice.defined]
        kept = set()
        for name in missing:
            found = [at for at in self._broken if _seems_to_define(self._texts[at].text or "", name)]
            if found:
                choice.defined.add(name)
                kept.add(found[-1])
                self._note("broken_kept", found[-1:], file="", name=name, line=self._broken[found[-1]])
        return kept

    def _piece(self, at: int, choice: Choice, is_broken: bool) -> str | None:
        text = self._texts[at].text or ""
        if is_broken:
            return text.rstrip()
        everything = self._statements.everything
        taken = [everything[one].node for one in self._by_cell[at] if one in choice.taken]
        left = [everything[one].node for one in self._by_cell[at] if one not in choice.taken]
        return cut(text, left, taken) if taken else None

    def _title_of(self, at: int) -> str:
        number = self._cells[at].number
        return f"# cell {self._cells[at].position} of {self._title}" + (f", In [{number}]" if number else "")

    # --- notes ------------------------------------------------------------------------------------------------

    def _note_choice(self, file: str, names: Collection[str], choice: Choice) -> None:
        everything = self._statements.everything
        for name, picked in sorted(choice.picked.items()):
            cells = [everything[at].cell for at in self._statements.definitions(name)]
            self._note("several", [everything[picked].cell, *cells], file=file, name=name)
        for name in names:
            if name not in choice.defined:
                self._note("missing", self._unseen_cells_of(name), file=file, name=name)
        for name, cell in sorted(choice.left.items()):
            self._note("left", [cell], file=file, name=name)
        for name, (user, binder) in sorted(choice.too_late.items()):
            self._note("too_late", [user, binder], file=file, name=name)

    def _unseen_cells_of(self, name: str) -> list[int]:
        """Cells that define a name where no other cell sees it, as below `%%timeit`."""
        return [
            at
            for at, one in enumerate(self._texts)
            if one.text is None and _seems_to_define(self._cells[at].source or "", name)
        ]

    def _note_cells(self, files: Iterable[str]) -> None:
        """What is the matter with cells, whatever file they belong to."""
        kept = {tuple(note[3][0]) for note in self._notes if note[0] == "broken_kept"}
        for at, line in self._broken.items():
            if tuple(self._shown(at)) not in kept:
                self._note("broken_left", [at], line=line)
        for at, cell in enumerate(self._cells):
            if cell.source is None:
                self._note("no_source", [at])

    def _note(self, kind: str, cells: Iterable[int], *, file: str = "", name: str = "", line: int = 0) -> None:
        if sum(note[0] == kind for note in self._notes) < _MOST_NOTES:
            shown = [self._shown(at) for at in cells][:_MOST_NOTES]
            self._notes.append([kind, file, name[:_MOST_NAME], shown, line])

    def _shown(self, at: int) -> list[int | None]:
        return [self._cells[at].position, self._cells[at].number]


def _seems_to_define(text: str, name: str) -> bool:
    """Whether a text that Python does not take was meant to define a name."""
    word = re.escape(name)
    return bool(
        re.search(rf"^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+{word}\b|^{word}[ \t]*=(?!=)", text, re.MULTILINE)
    )
