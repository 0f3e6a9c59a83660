"""What names mean among homework: stubs and their copies, archives, what tools leave behind.

Names inside a submission are relative, with `/` between folders. Everything here is a function of names alone: no disk
is touched, so that a folder and an archive are understood alike.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

#: Folder of a handout that students check their work with, and may hand in along with it.
RECORDS = "grade-check"
#: Folders that tools leave behind, and nobody means to hand in.
NOISE = frozenset({"__pycache__", "__MACOSX", "node_modules", "venv", RECORDS})
#: Files that are instructions to tools which run Python; nobody's answer to an assignment.
TOOL_FILES = frozenset({"conftest.py", "setup.py"})
_READ_ARCHIVES = (".tar.gz", ".tgz", ".tar", ".zip")
_OTHER_ARCHIVES = (".7z", ".rar", ".gz", ".bz2", ".tbz2", ".xz", ".txz", ".zst", ".jar", ".whl")
#: What browsers, systems and learning platforms add to a name: `-1`, ` (2)`, `_copy`.
_COPY_MARK = re.compile(r"(?:[-_ ]?\((?P<round>\d{1,9})\)|[-_ ](?P<dash>\d{1,9})|[-_ ]copy)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A file that stands for a stub, `exact` when its name and place are the stub's own."""

    name: str
    is_exact: bool
    #: Other files that might have stood for it.
    others: tuple[str, ...] = ()


def is_noise(name: str) -> bool:
    """Whether a file or folder of this name is hidden, or a leftover of a tool."""
    return name.startswith(".") or name in NOISE


def is_python(name: str) -> bool:
    """Whether a name is that of a Python source file; compiled and other files are never taken."""
    return name.lower().endswith(".py")


def archive_id(name: str) -> str | None:
    """The id of the submission in an archive of this name; None when such files are not read as archives."""
    suffix = _ending(name, _READ_ARCHIVES)
    return name[: -len(suffix)] if suffix else None


def is_archive(name: str) -> bool:
    """Whether somebody's homework may be packed in a file of this name, readable here or not."""
    return _ending(name, (*_READ_ARCHIVES, *_OTHER_ARCHIVES)) is not None


def folded(name: str) -> str:
    """What two names have in common that some disks hold for one: capitals, and how accents are written."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def stands_for(found: str, stub: str) -> bool:
    """Whether a file's name is a stub's, but for capitals, blanks, hyphens, or the mark of a copy."""
    if found == stub:
        return True
    stem, _, suffix = found.rpartition(".")
    return suffix.lower() == "py" and _plain(_COPY_MARK.sub("", stem)) == _plain(stub.rpartition(".")[0])


def homes(names: Iterable[str], stubs: Iterable[str]) -> list[str]:
    """The folders in which stub files lie: the top (empty) alone when one lies there, else all nested ones."""
    wanted = tuple(stubs)
    found = {folder_of(name) for name in names if any(stands_for(file_of(name), stub) for stub in wanted)}
    return [""] if "" in found else sorted(found, key=_shallow_first)


def match_stub(names: Iterable[str], stub: str) -> Match | None:
    """The file that stands for a stub, or None.

    The stub's own name at the top comes first, then other spellings (`Single_Head.py`, `single_head-1.py`; of several
    copies the last), then the same in a nested folder.
    """
    candidates = [name for name in names if stands_for(file_of(name), stub)]
    if not candidates:
        return None
    best = min(
        candidates,
        key=lambda name: (
            name.count("/"),
            file_of(name) != stub,
            -_copy_number(file_of(name).rpartition(".")[0]),
            name,
        ),
    )
    others = tuple(sorted((name for name in candidates if name != best), key=_shallow_first))
    return Match(name=best, is_exact=best == stub, others=others)


def neighbours(names: Iterable[str], folder: str) -> list[str]:
    """Python files in a folder of a submission, which stub files in it may import."""
    return sorted(name for name in names if name.endswith(".py") and folder_of(name) == folder)


def file_of(name: str) -> str:
    """The last part of a name."""
    return name.rpartition("/")[2]


def folder_of(name: str) -> str:
    """The folder a name lies in; empty at the top."""
    return name.rpartition("/")[0]


def _ending(name: str, suffixes: Iterable[str]) -> str | None:
    return next((one for one in suffixes if len(name) > len(one) and name.lower().endswith(one)), None)


def _shallow_first(name: str) -> tuple[int, str]:
    return name.count("/"), name


def _plain(stem: str) -> str:
    return re.sub(r"[-_ ]", "", stem).lower()


def _copy_number(stem: str) -> int:
    mark = _COPY_MARK.search(stem)
    return int(mark["round"] or mark["dash"] or 1) if mark else 0
