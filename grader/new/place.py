"""Putting the files of a new assignment into a course: all of them or none, and nothing overwritten.

Everything is written into a folder beside its place first, and moved. The folder of the assignment itself comes last:
it is what makes an assignment. Where a machine stops in the middle there is none, and doing it again completes it.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from grader import interrupt
from grader.fault import Fault


class PlaceTaken(Fault):
    """Something is in the way; the text says what, and what to do."""


def place(course: Path, files: Mapping[PurePosixPath, str], last: PurePosixPath) -> None:
    """Write files into a course's folder, which is made when it is not there.

    Args:
        files: texts by their places in the course.
        last: a folder of the course that is not there yet; what lies in it comes all at once, when the rest is there.

    Raises:
        PlaceTaken: a file is there and says something else. Nothing has been written.
        OSError: it cannot be written. What had been written is gone again.
    """
    _must_be_free(course, files, last)
    with interrupt.held(), contextlib.ExitStack() as undo:  # it takes a moment, and is not to be broken off in it
        _make_folders(course, undo)
        with tempfile.TemporaryDirectory(dir=course, prefix=".grade-new-") as name:
            beside = Path(name)
            for at, text in files.items():
                _write(beside / at, text)
            for at in files:
                if not at.is_relative_to(last):
                    _move(beside / at, course / at, undo)
            _make_folders((course / last).parent, undo)
            (beside / last).rename(course / last)  # fails where a folder with something in it is
            undo.pop_all()


def _must_be_free(course: Path, files: Mapping[PurePosixPath, str], last: PurePosixPath) -> None:
    if os.path.lexists(course / last):
        raise PlaceTaken(f"{course / last} is there already, and is left as it is; choose another name")
    for at, text in files.items():
        for folder in at.parents:
            if os.path.lexists(course / folder) and not (course / folder).is_dir():
                raise PlaceTaken(f"{course / folder} is no folder; move it out of the way")
        if os.path.lexists(course / at) and not _holds(course / at, text):
            raise PlaceTaken(
                f"{course / at} is there already, and is left as it is; choose another name, or move it out of the way"
            )


def _holds(path: Path, text: str) -> bool:
    """Whether a file says just this: an earlier attempt, which a machine's end broke off."""
    try:
        return path.is_file() and path.read_bytes() == text.encode()
    except OSError:
        return False


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def _move(source: Path, target: Path, undo: contextlib.ExitStack) -> None:
    """Move a file to its place. One that has come there in the meantime stays."""
    _make_folders(target.parent, undo)
    if target.exists():  # by an earlier attempt
        return
    try:
        os.link(source, target)  # unlike a move, it never replaces
    except FileExistsError:
        raise PlaceTaken(f"{target} has just been written by somebody else, and is left as it is") from None
    except OSError:  # not every disk has links
        source.rename(target)
    undo.callback(target.unlink, missing_ok=True)


def _make_folders(folder: Path, undo: contextlib.ExitStack) -> None:
    for one in _missing_folders(folder):
        one.mkdir()
        undo.callback(_remove_folder, one)


def _missing_folders(folder: Path) -> Iterable[Path]:
    """The folders to make before this one is there, outermost first."""
    return [one for one in reversed([folder, *folder.parents]) if not one.exists()]


def _remove_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # somebody else has put something in it
        folder.rmdir()
