"""Mistakes in students' own styles: complete right solutions, and edits of those that give them a mistake.

A course knows its mistakes as edits of its reference. What a student wrote has other lines, so these edits are others,
and the misunderstanding behind them is the same. test_styled_data.py holds the data to what it claims.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from prove_checks import edited

PLACE = Path(__file__).parent / "data/styled_mistakes"
STYLES = tuple(sorted(path.name for path in PLACE.iterdir() if path.is_dir()))


def solution(style: str) -> dict[str, str]:
    """The right solution of a style, text by file name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted((PLACE / style).glob("*.py"))}


def entries(style: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Each mistake of a style: its id in the course's catalogue, its title, and the edited files.

    An empty id: the catalogue has no such mistake, and nothing may be named. An id may occur more than once: a
    mistake can be made in one function or in another.

    Raises:
        ValueError: the text that an edit replaces does not occur exactly once.
    """
    right = solution(style)
    for mistake in _mistakes(style):
        yield mistake["id"], mistake["title"], edited(right, mistake["edits"])


def _mistakes(style: str) -> list[Mapping]:
    return tomllib.loads((PLACE / style / "mistakes.toml").read_text(encoding="utf-8"))["mistake"]
