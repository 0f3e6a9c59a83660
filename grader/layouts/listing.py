"""Names at the top of a folder or an archive, before anything in it is opened."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from grader.find import FindError, Found, Piece
from grader.names import archive_id, is_archive, is_noise, stands_for

#: Entries of a student's folder that are looked at; it may hold any number.
_MOST_LOOKED_AT = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Names at the top, leftovers of tools aside, in order."""

    files: tuple[str, ...]
    folders: tuple[str, ...]

    @property
    def only_folder(self) -> str | None:
        """The one folder in which everything lies; beside it at most the archive that it was unpacked from."""
        if len(self.folders) != 1 or any(archive_id(name) != self.folders[0] for name in self.files):
            return None
        return self.folders[0]

    def holds(self, stubs: Iterable[str]) -> bool:
        """Whether a stub lies here: then this is somebody's homework, whatever lies beside it."""
        wanted = tuple(stubs)
        return any(stands_for(name, stub) for name in self.files for stub in wanted)


def listing_of(folder: Path) -> Listing:
    """What lies in a folder of the staff's; a link is no folder here, and not followed.

    Raises:
        FindError: it cannot be read.
    """
    try:
        with os.scandir(folder) as entries:
            return _listing((entry.name, _is_folder(entry)) for entry in entries)
    except OSError as error:
        raise FindError(f"{folder} cannot be read: {error.strerror}") from None


def listing_at_top(names: Iterable[str]) -> Listing:
    """The same of the full names in an archive, in which folders end in `/` or are only parts of names."""
    top: dict[str, bool] = {}
    for name in names:
        first, slash, _ = name.partition("/")
        top[first] = top.get(first, False) or bool(slash)
    return _listing(top.items())


def handed_in(folder: Path) -> tuple[Piece, ...] | None:
    """The pieces of a student's folder in which archives lie; None for one without, which is read as it is.

    What is packed comes last: a file that lies there in the open counts before one of the same name in an archive.
    """
    try:
        with os.scandir(folder) as listed:
            entries = [entry for entry in islice(listed, _MOST_LOOKED_AT) if not is_noise(entry.name)]
    except OSError:
        return None
    pieces = [Piece(path=folder / entry.name, name=entry.name, is_folder=_is_folder(entry)) for entry in entries]
    if not any(is_archive(piece.name) and not piece.is_folder for piece in pieces):
        return None
    return tuple(sorted(pieces, key=lambda piece: (not piece.is_folder and is_archive(piece.name), piece.name)))


def folder_of_student(id: str, folder: Path, notes: tuple[str, ...] = ()) -> Found:
    """The submission in a folder that a platform made for a student."""
    return Found(id=id, path=folder, pieces=handed_in(folder), notes=notes)


def _listing(entries: Iterable[tuple[str, bool]]) -> Listing:
    seen = sorted((name, is_folder) for name, is_folder in entries if name and not is_noise(name))
    return Listing(
        files=tuple(name for name, is_folder in seen if not is_folder),
        folders=tuple(name for name, is_folder in seen if is_folder),
    )


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
