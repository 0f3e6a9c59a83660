"""Intake: what a student handed in, a folder or an archive, becomes a `Tree` of names and bytes. Runs nothing.

Everything here takes a submission for hostile. Whatever it holds, the outcome is what can be taken of it, or the
reason why nothing was; the one exception raised is `IntakeError`, for a fault of this machine.

    tree     what is brought home, how much of it, and the words for what is left
    regular  one regular file, opened without following a link
    folder   a folder on the disk
    archive  a zip or tar, whose entries come from the unpacker
    pieces   files, folders and archives that lie apart and are one submission
    unpacker the process in which an archive is taken apart; it runs `grader.worker.unpack`
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from grader.find import Found
from grader.intake.archive import read_archive
from grader.intake.folder import names_below, read_folder
from grader.intake.pieces import read_pieces
from grader.intake.tree import IntakeError, Tree
from grader.names import archive_id, file_of

__all__ = ["IntakeError", "Tree", "file_names", "read_tree"]

#: Archives looked into to tell which assignment a class answers; each costs a process.
_MOST_ASKED = 20


def read_tree(found: Found) -> Tree:
    """Read a submission, once.

    Raises:
        IntakeError: this machine has no descriptor or process left for it.
    """
    if found.pieces is not None:
        return read_pieces(found.pieces)
    return read_archive(found.path) if found.is_archive else read_folder(found.path)


def file_names(found: Iterable[Found]) -> Iterator[str]:
    """Names of the Python files of submissions, to tell which assignment they answer; of archives, some do."""
    everything = list(found)
    for one in everything:
        for piece in one.pieces or ():
            yield from map(file_of, names_below(piece.path) if piece.is_folder else [piece.name])
        if one.pieces is None and not one.is_archive:
            yield from map(file_of, names_below(one.path))
    for path in islice((path for one in everything for path in _archives(one)), _MOST_ASKED):
        yield from map(file_of, read_archive(path).files)


def _archives(found: Found) -> list[Path]:
    """The archives of a submission."""
    if found.pieces is None:
        return [found.path] if found.is_archive else []
    return [piece.path for piece in found.pieces if archive_id(piece.name) is not None and not piece.is_folder]
