"""Intake: what a student handed in, a folder or an archive, becomes a `Tree` of names and bytes. Runs nothing.

Everything here takes a submission for hostile. Whatever it holds, the outcome is what can be taken of it, or the
reason why nothing was; the one exception raised is `IntakeError`, for a fault of this machine.

    tree     what is brought home, how much of it, and the words for what is left
    regular  one regular file, opened without following a link
    folder   a folder on the disk
    archive  a zip or tar, whose entries come from the unpacker
    notebook a notebook, whose code comes from the unpacker as the text of stub files
    pieces   files, folders and archives that lie apart and are one submission
    unpacker the process in which an archive or a notebook is taken apart; it runs programs of `grader.worker`
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice

from grader.find import Found
from grader.intake.archive import read_archive
from grader.intake.folder import names_below, read_file, read_folder
from grader.intake.notebook import Notebook, files_answered, read_notebook
from grader.intake.pieces import read_pieces
from grader.intake.tree import IntakeError, Tree
from grader.names import archive_id, file_of, is_notebook, is_python

__all__ = ["IntakeError", "Notebook", "Tree", "file_names", "read_notebook", "read_tree", "texts"]

#: Archives and notebooks looked into to tell which assignment a class answers; each costs a process.
_MOST_ASKED = 20


def read_tree(found: Found) -> Tree:
    """Read a submission, once.

    Raises:
        IntakeError: this machine has no descriptor or process left for it.
    """
    if found.pieces is not None:
        return read_pieces(found.pieces)
    if found.is_notebook:
        return read_file(found.path)
    return read_archive(found.path) if found.is_archive else read_folder(found.path)


def file_names(found: Iterable[Found], asked: Mapping[str, Collection[str]] | None = None) -> Iterator[str]:
    """Names of the Python files of submissions, to tell which assignment they answer; of archives, some do.

    A notebook, where there is no Python file, counts as those stub files of which it defines some name; `asked`: by
    stub file, the names it asks for.

    Raises:
        IntakeError: this machine has no descriptor or process left for looking.
    """
    everything = list(found)
    packed = [one for one in everything if _is_packed(one)]
    notebooks = [one for one in everything if one.is_notebook]
    for one in everything:
        if one in packed or one.is_notebook:
            continue
        names = list(_names(one))
        yield from filter(is_python, names)
        if any(map(is_notebook, names)) and not any(map(is_python, names)):
            notebooks.append(one)
    for one in islice((*packed, *notebooks), _MOST_ASKED):
        tree = read_tree(one)
        yield from map(file_of, tree.files)
        if not tree.files:
            for data in islice(tree.notebooks.values(), _MOST_ASKED):
                yield from files_answered(data, asked or {})


def texts(found: Iterable[Found], asked: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Texts of the Python files of some submissions, to tell which of several assignments they answer.

    `asked`: by stub file, the names it asks for, which are taken from notebooks.

    Raises:
        IntakeError: this machine has no descriptor or process left for looking.
    """
    for one in islice(found, _MOST_ASKED):
        tree = read_tree(one)
        yield from (data.decode("utf-8", errors="replace") for data in tree.files.values())
        if not tree.files:
            for notebook in islice(tree.notebooks.values(), _MOST_ASKED):
                yield from read_notebook(notebook, "notebook", asked).texts.values()


def _names(found: Found) -> Iterator[str]:
    """Names of the files of a submission that is not packed."""
    if found.pieces is None:
        yield from map(file_of, names_below(found.path))
    for piece in found.pieces or ():
        yield from map(file_of, names_below(piece.path) if piece.is_folder else [piece.name])


def _is_packed(found: Found) -> bool:
    """Whether an archive is, or may be, all there is of it."""
    if found.pieces is None:
        return found.is_archive
    return any(archive_id(piece.name) is not None and not piece.is_folder for piece in found.pieces)
