"""Where the submissions are, a folder, an archive or a notebook each, in the folder a TA names. Opens no file."""

import difflib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from grader.fault import Fault
from grader.handed_in import HandIn, Person
from grader.names import archive_id, are_copies, is_archive, is_noise, is_notebook, notebook_of, stands_for
from grader.record import clean_text

#: Entries of a student's folder that are looked at to see what the folder is; it may hold any number.
_MOST_LOOKED_AT = 2000
_READ = "zip, tar and tar.gz archives are read"


class FindError(Fault):
    """Nothing to grade was found; the text says where and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A file, an archive or a folder of a submission whose parts lie apart, as in a flat download."""

    path: Path
    #: Its name inside the submission.
    name: str
    is_folder: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One submission. `id` is its name, without the suffix of a file, with what cannot be shown spelt out.

    What is found may be a link, a pipe, or gone: whoever reads it sees to that.
    """

    id: str
    path: Path
    is_archive: bool = False
    #: Whether it is a single file, a notebook.
    is_notebook: bool = False
    #: What it is made of, the newest first, where that is not all that lies at `path`. Archives among it are unpacked.
    pieces: tuple[Piece, ...] | None = None
    #: What was noticed when it was found, such as an older copy that is left.
    notes: tuple[str, ...] = ()
    #: Whose it is, where the platform it comes from says so.
    people: tuple[Person, ...] = ()
    #: When it was handed in, where anybody says so.
    handed_in: HandIn | None = None


def find_submissions(folder: Path, files: Iterable[str], only: str | None = None) -> list[Found]:
    """The submissions in a folder, by name: the folder itself when it holds stub files, else what lies in it.

    A folder that holds one notebook, and no other homework, is a submission too; several notebooks are one each.

    Args:
        folder: a folder; an archive or a notebook is one submission.
        files: names of the stub files of all assignments that may be meant.
        only: a glob; submissions whose id does not match are left out.

    Raises:
        FindError: the folder is missing, is a file, is empty, or holds nothing that looks like homework.
    """
    names = set(files)
    if one := find_file(folder):
        found = [one]
    else:
        _must_be_folder(folder)
        found = _found_in(folder, names)
    if not found:
        raise FindError(
            f"{folder} holds no submission: wanted one folder, archive or notebook per student, "
            f"with {', '.join(sorted(names))}"
        )
    return matching(found, only, folder)


def matching(found: Iterable[Found], only: str | None, folder: Path) -> list[Found]:
    """Those submissions whose id matches a glob, all of them without one, by id.

    Raises:
        FindError: there are none.
    """
    everything = list(found)
    chosen = [one for one in everything if only is None or fnmatchcase(one.id, only)]
    if not chosen:
        close = difflib.get_close_matches(only or "", [one.id for one in everything], n=3, cutoff=0.4)
        raise FindError(
            f"no submission in {folder} matches {only!r}" + (f"; near: {', '.join(close)}" if close else "")
        )
    return sorted(chosen, key=lambda one: one.id)


def find_folder(folder: Path) -> Found:
    """The submission in a folder that a person named. A link is followed here: the person knows where it leads."""
    place = folder.resolve()
    return Found(id=clean_text(place.name), path=place)


def find_archive(path: Path) -> Found | None:
    """The submission in an archive that a person named; None when there is no such archive."""
    if not path.exists() or path.is_dir():
        return None
    place = path.resolve()
    name = archive_id(place.name)
    if name is None:
        return None
    return Found(id=clean_text(name), path=place, is_archive=True)


def find_file(path: Path) -> Found | None:
    """The submission in a file that a person named, an archive or a notebook; None when it is no such file."""
    if not is_notebook(path.name) or not path.is_file():
        return find_archive(path)
    place = path.resolve()
    return Found(id=_id_of_notebook(place.name), path=place, is_notebook=True)


def find_one(path: Path) -> Found:
    """The submission that a person named, a folder or a file. Raises FindError when it is none."""
    if one := find_file(path):
        return one
    _must_be_folder(path)
    return find_folder(path)


def unread_archives(folder: Path, found: Sequence[Found]) -> dict[str, str]:
    """Archives that somebody may have handed in and that are not graded, by name, with the reason."""
    if not folder.is_dir() or found[0].path == folder.resolve():
        return {}
    place = found[0].path.parent
    unread = {
        entry.name: f"only {_READ}; unpack it first"
        for entry in _entries(place)
        if is_archive(entry.name) and archive_id(entry.name) is None and not _is_folder(entry)
    }
    if place != folder:
        beside = [entry.name for entry in _entries(folder) if is_archive(entry.name) and not _is_folder(entry)]
        unread |= dict.fromkeys(beside, f"the submissions are taken from the folder {place.name}; move it there")
    return {clean_text(name): clean_text(reason) for name, reason in unread.items()}


def _found_in(folder: Path, names: set[str]) -> list[Found]:
    entries = _entries(folder)
    if not any(_is_stub(entry, names) for entry in entries):
        if _is_lone_notebook(entries, names):
            return [find_folder(folder)]
        place = _descend(folder, entries, names)
        return _named(entries if place == folder else _entries(place))
    nested = [entry.name for entry in _folders(entries) if _holds_stub(Path(entry.path), names)]
    if len(nested) > 1:
        raise FindError(
            f"{folder} holds stub files and folders that hold some too ({', '.join(nested[:3])}, ...): is it one "
            "submission or a class? Move the files away, or name the one folder to grade"
        )
    return [find_folder(folder)]


def _must_be_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    if folder.exists():
        trouble = f" that is not read (only {_READ})" if is_archive(folder.name) else ""
        raise FindError(f"{folder} is a file{trouble}; wanted the folder that holds the submissions")
    parent = folder.parent
    siblings = [entry.name for entry in _entries(parent)] if parent.is_dir() else []
    close = difflib.get_close_matches(folder.name, siblings, n=1)
    raise FindError(
        f"{folder} does not exist"
        + (f"; did you mean {parent / close[0]}?" if close else f" (looked from {Path.cwd()})")
    )


def _descend(folder: Path, entries: list[os.DirEntry[str]], names: set[str]) -> Path:
    """The folder whose entries are submissions: one deeper, when all that is here is one folder that holds them.

    An archive beside that folder, and of its name, is what the folder was unpacked from.
    """
    inside = _folders(entries)
    packed = {archive_id(entry.name) for entry in _archives(entries)}
    if len(inside) != 1 or packed - {inside[0].name}:
        return folder
    deeper = Path(inside[0].path)
    below = _first_entries(deeper)
    if any(_is_stub(entry, names) for entry in below):
        return folder
    likely = [*_archives(below), *(entry for entry in _folders(below) if _holds_homework(Path(entry.path), names))]
    return deeper if len(likely) > 1 else folder


def _is_lone_notebook(entries: list[os.DirEntry[str]], names: set[str]) -> bool:
    """Whether a folder is homework for the sake of one notebook in it, of whatever name, and its copies."""
    notebooks = [entry.name for entry in _notebooks(entries)]
    if not notebooks or not are_copies(notebooks) or _archives(entries):
        return False
    return not any(_holds_homework(Path(entry.path), names) for entry in _folders(entries))


def _holds_homework(folder: Path, names: set[str]) -> bool:
    entries = _first_entries(folder)
    return bool(_notebooks(entries)) or any(_is_stub(entry, names) for entry in entries)


def _holds_stub(folder: Path, names: set[str]) -> bool:
    return any(_is_stub(entry, names) for entry in _first_entries(folder))


def _is_stub(entry: os.DirEntry[str], names: set[str]) -> bool:
    """Whether it is called like a stub and is no folder; what cannot be read is a submission's stub all the same."""
    is_called_so = any(stands_for(entry.name, name) or stands_for(entry.name, notebook_of(name)) for name in names)
    return is_called_so and not _is_folder(entry)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """All entries of a folder of the staff's."""
    try:
        with os.scandir(folder) as entries:
            return sorted((entry for entry in entries if not is_noise(entry.name)), key=lambda entry: entry.name)
    except OSError as error:
        raise FindError(f"{folder} cannot be read: {error.strerror}") from None


def _first_entries(folder: Path) -> list[os.DirEntry[str]]:
    """Some entries of a student's folder, which may hold any number, or be closed."""
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in islice(entries, _MOST_LOOKED_AT) if not is_noise(entry.name)]
    except OSError:
        return []


def _folders(entries: Iterable[os.DirEntry[str]]) -> list[os.DirEntry[str]]:
    return [entry for entry in entries if _is_folder(entry)]


def _archives(entries: Iterable[os.DirEntry[str]]) -> list[os.DirEntry[str]]:
    return [entry for entry in entries if archive_id(entry.name) is not None and not _is_folder(entry)]


def _notebooks(entries: Iterable[os.DirEntry[str]]) -> list[os.DirEntry[str]]:
    return [entry for entry in entries if is_notebook(entry.name) and not _is_folder(entry)]


def _linked_folders(entries: Iterable[os.DirEntry[str]]) -> list[os.DirEntry[str]]:
    """Links that lead to a folder, or nowhere: somebody's submission, and for whoever reads it to refuse."""
    links = [entry for entry in entries if entry.is_symlink() and archive_id(entry.name) is None]
    return [entry for entry in links if not _leads_to_file(entry)]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _leads_to_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link to itself, or through a closed folder
        return False


def _named(entries: list[os.DirEntry[str]]) -> list[Found]:
    """Submissions with ids of their own: names may be one but for a suffix, or what cannot be shown."""
    found: dict[str, Found] = {}
    archives, notebooks = _archives(entries), _notebooks(entries)
    linked = [entry for entry in _linked_folders(entries) if entry not in notebooks]
    for entry in [*_folders(entries), *linked, *archives, *notebooks]:
        is_packed, is_single = entry in archives, entry in notebooks
        packed_id = archive_id(entry.name) if is_packed else None
        name = _id_of_notebook(entry.name) if is_single else clean_text(packed_id or entry.name)
        number = 1
        unique = name
        while unique in found:
            number += 1
            unique = f"{name} ({number})"
        found[unique] = Found(id=unique, path=Path(entry.path), is_archive=is_packed, is_notebook=is_single)
    return list(found.values())


def _id_of_notebook(name: str) -> str:
    return clean_text(name.rpartition(".")[0] or name)
