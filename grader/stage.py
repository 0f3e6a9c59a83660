"""A submission's files, read once: the bytes that are hashed are the bytes that run. Runs and parses nothing."""

import hashlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grader.assignment import Assignment
from grader.find import Found, homes, match_stub, neighbours
from grader.report import SourceFile, clean_text
from grader.sources import Sources

#: Bytes of one source file; the largest homework seen has 60 KiB.
MOST_BYTES = 1024 * 1024
#: Files of one submission that are read.
MOST_FILES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """What was read of one submission."""

    id: str
    sources: Sources
    files: tuple[SourceFile, ...]
    #: What a TA and the student ought to know, such as a misspelt name that was accepted.
    notes: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether no file that the assignment asks for could be read."""
        return not self.sources.texts

    @property
    def digest(self) -> frozenset[tuple[str, str]]:
        """Identity of what was handed in."""
        return file_digest(self.files)


def file_digest(files: Iterable[SourceFile]) -> frozenset[tuple[str, str]]:
    """Identity of files: their names and contents."""
    return frozenset((file.name, file.sha256) for file in files)


class _Unreadable(Exception):
    """Why a file cannot be read, for its student."""


def stage(found: Found, assignment: Assignment) -> Staged:
    """Read the files of a submission: those that stand for stubs, and the others that these may import."""
    if found.is_link:
        reason = "the folder is a symbolic link, which is not followed"
        unreadable = dict.fromkeys(assignment.files, reason)
        return Staged(id=found.id, sources=Sources(texts={}, unreadable=unreadable), files=(), notes=())
    places = homes(found.folder, assignment.files)
    if len(places) > 1:
        names = ", ".join(clean_text(str(place.relative_to(found.folder))) for place in places[:5])
        reason = f"several folders hold such a file ({names}); leave one"
        return Staged(
            id=found.id,
            sources=Sources(texts={}, unreadable=dict.fromkeys(assignment.files, reason)),
            files=(),
            notes=(),
        )
    texts: dict[str, str] = {}
    unreadable = {}
    hashes: list[SourceFile] = []
    notes: list[str] = []
    for name, path in _paths(found, assignment, notes).items():
        try:
            data = _read(path)
            hashes.append(SourceFile(name=name, sha256=hashlib.sha256(data).hexdigest()))
            texts[name] = _decode(data)
        except _Unreadable as problem:
            unreadable[name] = str(problem)
    if not any(name in texts for name in assignment.files):
        texts = {}
    return Staged(
        id=found.id,
        sources=Sources(texts=texts, unreadable=unreadable),
        files=tuple(hashes),
        notes=tuple(notes),
    )


def _paths(found: Found, assignment: Assignment, notes: list[str]) -> dict[str, Path]:
    """Name under which a file is imported, to the file."""
    paths: dict[str, Path] = {}
    for name in assignment.files:
        match = match_stub(found.folder, name)
        if match:
            paths[name] = match.path
            if not match.is_exact:
                notes.append(f"{_shown(match.path, found)} was read as {name}")
            notes.extend(f"{_shown(other, found)} was not read" for other in match.others)
    taken = set(paths.values())
    folders = {found.folder, *(path.parent for path in taken)}
    try:
        others = sorted(path for folder in folders for path in neighbours(folder))
    except OSError as error:
        notes.append(f"the folder cannot be read: {error.strerror}")
        others = []
    for path in others:
        if path not in taken and path.stem.isidentifier() and len(paths) < MOST_FILES:
            paths.setdefault(path.name, path)
    return paths


def _shown(path: Path, found: Found) -> str:
    return clean_text(str(path.relative_to(found.folder)))


def _read(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _Unreadable(f"{error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _Unreadable("it is no regular file")
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise _Unreadable(f"it is larger than {MOST_BYTES // 1024} KiB")
    return data


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before) - (before.rfind(b"\n") + 1) + 1
        raise _Unreadable(
            f"it is not UTF-8: byte 0x{data[error.start]:02x} at line {line}, column {column}; save the file as UTF-8"
        ) from None
