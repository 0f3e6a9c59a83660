"""The text of a stub file, cut from the cells it needs: each line in its place within its cell, what is left out empty.

So a line of the file is a line of a cell, and an error leads there.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from .statements import is_kept, suites


class Piece(NamedTuple):
    """What one cell gives to a file."""

    #: Which of the cells it is.
    cell: int
    text: str


class Placed(NamedTuple):
    """Where a cell's lines are in a file, counted from 1."""

    cell: int
    first: int
    last: int


def cut(text: str, left: Iterable[ast.stmt], taken: Iterable[ast.stmt]) -> str:
    """A cell's text without the statements that are left, and without experiments within branches that are taken."""
    lines = text.split("\n")
    nodes = sorted(
        [*left, *(inner for node in taken for inner in _experiments(node))],
        key=lambda node: (node.lineno, node.col_offset),
        reverse=True,
    )
    for node in nodes:
        _empty(lines, node)
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines)


def join(pieces: Sequence[Piece], titles: Sequence[str], head: str) -> tuple[str, list[Placed]]:
    """The text of a file, each piece below the title of its cell, and where each of them is.

    `head`: what must stand first, such as imports from `__future__`; empty when nothing must.
    """
    lines = [head] if head else []
    placed = []
    for piece, title in zip(pieces, titles, strict=True):
        own = piece.text.split("\n")
        lines += [title, *own, ""]
        placed.append(Placed(piece.cell, len(lines) - len(own), len(lines) - 1))
    return "\n".join(lines), placed


def _experiments(node: ast.stmt) -> Iterator[ast.stmt]:
    """What is left out within a branch; an import from `__future__` stands elsewhere."""
    for suite in suites(node):
        for inner in suite:
            if is_kept(inner):
                yield from _experiments(inner)
            else:
                yield inner


def _empty(lines: list[str], node: ast.stmt) -> None:
    """Empty the lines of a statement; beside others on its lines, and within a branch, `pass` stands instead."""
    first, last = _first_line(node), (node.end_lineno or node.lineno) - 1
    before = "" if first < node.lineno - 1 else _part(lines[first], 0, node.col_offset)
    after = _part(lines[last], node.end_col_offset or 0, None)
    is_alone = not before and after.strip(" \t;") == ""
    is_commented = not before and after.lstrip().startswith("#")
    lines[first] = "" if is_alone or is_commented else f"{before}pass{after}"
    for at in range(first + 1, last + 1):
        lines[at] = ""


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)]) - 1


def _part(line: str, start: int, end: int | None) -> str:
    """Part of a line: Python counts its columns in bytes of UTF-8."""
    return line.encode()[start:end].decode(errors="replace")
