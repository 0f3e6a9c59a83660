"""Where the submissions are: one folder each, below the folder a TA names. Reads names only, never a file."""

import difflib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from grader.report import clean_text

#: Folders that tools leave behind and no student hands in.
_NOISE = {"__pycache__", "__MACOSX", "node_modules", "venv"}
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".7z", ".rar")
#: How deep below a submission's folder files are looked for.
_DEEPEST = 4
#: Entries of one submission looked at; more is no homework.
_MOST_ENTRIES = 2000
#: What browsers, systems and learning platforms add to a name: `-1`, ` (2)`, `_copy`.
_COPY_MARK = re.compile(r"(?:[-_ ]?\((?P<round>\d+)\)|[-_ ](?P<dash>\d+)|[-_ ]copy)$", re.IGNORECASE)


class FindError(Exception):
    """Nothing to grade was found; the text says where and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One submission's folder. `id` is its name, with what cannot be shown spelt out."""

    id: str
    folder: Path
    #: A link is not followed, since it may lead anywhere; its submission is ungradable rather than forgotten.
    is_link: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A file that stands for a stub, `exact` when its name and place are the stub's own."""

    path: Path
    is_exact: bool
    #: Other files that might have stood for it.
    others: tuple[Path, ...] = ()


def find_submissions(folder: Path, files: Iterable[str], only: str | None = None) -> list[Found]:
    """The submissions in a folder, by name: the folder itself when it holds stub files, else each folder in it.

    Args:
        files: names of the stub files of all assignments that may be meant.
        only: a glob; submissions whose id does not match are left out.

    Raises:
        FindError: the folder is missing, is a file, is empty, or holds nothing that looks like homework.
    """
    names = set(files)
    _must_be_folder(folder)
    if any(
        _stands_for(entry.name, name)
        for entry in _entries(folder)
        for name in names
        if entry.is_file(follow_symlinks=False)
    ):
        nested = [entry.name for entry in _folders(folder) if _holds_stub(Path(entry.path), names)]
        if len(nested) > 1:
            raise FindError(
                f"{folder} holds stub files and folders that hold some too ({', '.join(nested[:3])}, ...): is it one "
                "submission or a class? Move the files away, or name the one folder to grade"
            )
        found = [Found(id=clean_text(folder.resolve().name), folder=folder)]
    else:
        found = _named([*_folders(_descend(folder, names)), *_linked_folders(_descend(folder, names))])
    if not found:
        raise FindError(f"{folder} holds no submission: wanted one folder per student, with {', '.join(sorted(names))}")
    chosen = [one for one in found if only is None or fnmatchcase(one.id, only)]
    if not chosen:
        close = difflib.get_close_matches(only or "", [one.id for one in found], n=3, cutoff=0.4)
        raise FindError(
            f"no submission in {folder} matches {only!r}" + (f"; near: {', '.join(close)}" if close else "")
        )
    return sorted(chosen, key=lambda one: one.id)


def unread_archives(folder: Path) -> list[str]:
    """Names of archives among the submissions: somebody's homework that nobody would miss."""
    return [clean_text(entry.name) for entry in _entries(folder) if entry.name.lower().endswith(_ARCHIVES)]


def file_names(found: Iterable[Found]) -> Iterator[str]:
    """Names of the Python files of submissions, to tell which assignment they answer."""
    for one in found:
        yield from (path.name for path in _files_below(one.folder))


def homes(folder: Path, names: Iterable[str]) -> list[Path]:
    """The folders of a submission in which stub files lie: its own alone when one lies there, else all nested ones."""
    found = list(
        dict.fromkeys(
            path.parent for path in _files_below(folder) if any(_stands_for(path.name, name) for name in names)
        )
    )
    return [folder] if folder in found else found


def match_stub(folder: Path, name: str) -> Match | None:
    """The file that stands for a stub, or None.

    The stub's own name at the top comes first, then other spellings (`Single_Head.py`, `single_head-1.py`; of several
    copies the last), then the same in a nested folder.
    """
    candidates = [path for path in _files_below(folder) if _stands_for(path.name, name)]
    if not candidates:
        return None
    best = min(
        candidates,
        key=lambda path: (
            len(path.relative_to(folder).parts),
            path.name != name,
            -_copy_number(path.stem),
            str(path),
        ),
    )
    others = tuple(path for path in candidates if path != best)
    return Match(path=best, is_exact=best == folder / name, others=others)


def neighbours(folder: Path) -> list[Path]:
    """Python files at the top of a submission, which its stub files may import."""
    return sorted(
        Path(entry.path)
        for entry in _entries(folder)
        if entry.name.endswith(".py") and entry.is_file(follow_symlinks=False)
    )


def _must_be_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    if folder.exists():
        raise FindError(f"{folder} is a file; wanted the folder that holds the submissions")
    parent = folder.parent
    siblings = [entry.name for entry in _entries(parent)] if parent.is_dir() else []
    close = difflib.get_close_matches(folder.name, siblings, n=1)
    raise FindError(
        f"{folder} does not exist"
        + (f"; did you mean {parent / close[0]}?" if close else f" (looked from {Path.cwd()})")
    )


def _descend(folder: Path, names: set[str]) -> Path:
    """The folder whose folders are submissions: one deeper, when all that is here is one folder that holds them."""
    inside = list(_folders(folder))
    if len(inside) == 1 and not _holds_stub(Path(inside[0].path), names):
        below = [Path(entry.path) for entry in _folders(Path(inside[0].path))]
        if sum(_holds_stub(path, names) for path in below) > 1:
            return Path(inside[0].path)
    return folder


def _holds_stub(folder: Path, names: set[str]) -> bool:
    return any(_stands_for(entry.name, name) for entry in _entries(folder) for name in names)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda entry: entry.name)


def _folders(folder: Path) -> Iterator[os.DirEntry[str]]:
    for entry in _entries(folder):
        if entry.name not in _NOISE and entry.is_dir(follow_symlinks=False):
            yield entry


def _linked_folders(folder: Path) -> Iterator[os.DirEntry[str]]:
    for entry in _entries(folder):
        if entry.is_symlink() and entry.is_dir():
            yield entry


def _named(entries: Iterable[os.DirEntry[str]]) -> list[Found]:
    """Submissions with ids of their own, also where names differ only in what cannot be shown."""
    found: dict[str, Found] = {}
    for entry in entries:
        name = clean_text(entry.name)
        same = sum(one == name or one.startswith(f"{name} (") for one in found)
        name = f"{name} ({same + 1})" if same else name
        found[name] = Found(id=name, folder=Path(entry.path), is_link=entry.is_symlink())
    return list(found.values())


def _files_below(folder: Path) -> Iterator[Path]:
    """Python files, shallow first, without following links, up to a depth and a number of entries."""
    level, seen = [folder], 0
    for _ in range(_DEEPEST):
        deeper: list[Path] = []
        for inside in level:
            try:
                entries = _entries(inside)
            except OSError:  # unreadable, or gone: nothing to find there
                continue
            seen += len(entries)
            if seen > _MOST_ENTRIES:
                return
            for entry in entries:
                if entry.is_dir(follow_symlinks=False) and entry.name not in _NOISE:
                    deeper.append(Path(entry.path))
                elif entry.name.lower().endswith(".py") and entry.is_file(follow_symlinks=False):
                    yield Path(entry.path)
        level = deeper


def _stands_for(found: str, name: str) -> bool:
    """Whether a file's name is a stub's, but for capitals, blanks, hyphens, or the mark of a copy."""
    if found == name:
        return True
    stem, _, suffix = found.rpartition(".")
    return suffix.lower() == "py" and _plain(_COPY_MARK.sub("", stem)) == _plain(name.rpartition(".")[0])


def _plain(stem: str) -> str:
    return re.sub(r"[-_ ]", "", stem).lower()


def _copy_number(stem: str) -> int:
    mark = _COPY_MARK.search(stem)
    return int(mark["round"] or mark["dash"] or 1) if mark else 0
