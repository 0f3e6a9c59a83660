"""An archive's bytes become its entries, in a process of its own that ends afterwards. Nothing is written to a disk.

An archive comes from anybody, and the parsers of the standard library were not made for that: `apart` says how it is
kept in. What it answers is checked by `grader.intake.archive`, which knows what the words used here mean to a student.
One line of JSON goes out:

    {"entries": [[NAME, KIND, DATA], ...]}    DATA: base64 of a Python file or a notebook; null for all other kinds
    {"problem": [KIND, NAME, NAME]}           nothing could be taken; names of entries where there are any
"""

import base64
import gzip
import io
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from typing import Any, NamedTuple

from .apart import answer, begin

_CENTRAL, _END = b"PK\x01\x02", b"PK\x05\x06"
#: Bytes of fixed length at the beginning of an entry in the central directory, and before an entry's data.
_CENTRAL_BYTES, _LOCAL_BYTES = 46, 30
_ENCRYPTED = 0x1 | 0x40 | 0x2000


class Caps(NamedTuple):
    """How much is taken, by the word of the process that asks."""

    #: Bytes of one Python file.
    file_bytes: int
    #: Bytes of all Python files taken.
    total_bytes: int
    #: Bytes of all notebooks taken.
    notebook_bytes: int
    #: Bytes of a tar that was compressed.
    unpacked_bytes: int
    #: Entries, leftovers of tools aside.
    entries: int
    #: Entries of any kind.
    listed: int


class _Problem(Exception):
    """Nothing can be taken. `args`: the kind, and names of entries."""


def main(arguments: dict[str, Any]) -> None:
    """Look at the archive on standard input, then answer."""
    archive = begin(arguments)
    answer(unpack(archive, arguments["format"], Caps(**arguments["caps"]), frozenset(arguments["noise"])))


def unpack(archive: bytes, kind: str, caps: Caps, noise: frozenset[str]) -> dict[str, Any]:
    """The answer about an archive, `zip` or `tar`."""
    try:
        entries = _zip_entries(archive, caps) if kind == "zip" else _tar_entries(archive, caps)
        return {"entries": _taken(entries, caps, noise)}
    except _Problem as problem:
        return {"problem": [*problem.args, "", ""][:3]}
    except MemoryError:
        return {"problem": ["memory", "", ""]}
    except Exception:  # the parsers raise whatever comes when an archive is no archive: some twenty kinds
        return {"problem": ["damaged", "", ""]}


def _taken(entries: "Iterator[tuple[str, str, _Read]]", caps: Caps, noise: frozenset[str]) -> list[list[str | None]]:
    taken: list[list[str | None]] = []
    total = total_of_notebooks = 0
    for listed, (name, kind, read) in enumerate(entries):
        if listed >= caps.listed:
            raise _Problem("too_many")
        if _is_noise(name, noise):
            continue
        if len(taken) >= caps.entries:
            raise _Problem("too_many")
        data = None
        is_notebook = name.lower().endswith(".ipynb")
        if kind != "other" and not is_notebook and not name.lower().endswith(".py"):
            kind = "other"
        if kind == "file" and is_notebook:
            kind, data = read(caps.notebook_bytes)
            total_of_notebooks += len(data or b"")
            if total_of_notebooks > caps.notebook_bytes:
                total_of_notebooks -= len(data or b"")
                kind, data = "crowded", None
        elif kind == "file":
            kind, data = read(caps.file_bytes)
            total += len(data or b"")
            if total > caps.total_bytes:
                raise _Problem("too_much")
        taken.append([name, kind, None if data is None else base64.b64encode(data).decode("ascii")])
    return taken


def _is_noise(name: str, noise: frozenset[str]) -> bool:
    """Whether it is hidden or left by a tool; a name that leads elsewhere is not, but goes on to be refused."""
    parts = name.split("/")
    if ".." in parts or "\\" in name:
        return False
    return any(part in noise or (part.startswith(".") and part != ".") for part in parts)


class _Read:
    """Reads the data of one entry: what it turned out to be, and its bytes when it can be taken."""

    def __init__(self, opened: Any, size: int) -> None:
        self._opened, self._size = opened, size

    def __call__(self, most: int) -> tuple[str, bytes | None]:
        if self._size > most:
            return "too_large", None
        try:
            with self._opened() as file:
                data = file.read(most + 1)
        except MemoryError:
            raise
        except Exception:  # as in `unpack`; here it is the one entry's trouble
            return "damaged", None
        # Not more than was declared can come, and less means that the archive lies.
        return ("file", data) if len(data) == self._size else ("damaged", None)


# --- zip --------------------------------------------------------------------------------------------------------


def _zip_entries(archive: bytes, caps: Caps) -> Iterator[tuple[str, str, _Read]]:
    _must_list_few(archive, caps.listed)
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        entries = opened.infolist()
        _must_not_overlap(entries, opened.start_dir)
        for entry in entries:
            read = _Read(lambda entry=entry: opened.open(entry), entry.file_size)
            yield entry.orig_filename, _zip_kind(entry), read


def _must_list_few(archive: bytes, most: int) -> None:
    """Count the central directory's entries before a parser makes an object of each."""
    end = archive.rfind(_END)
    at = end - int.from_bytes(archive[end + 12 : end + 16], "little")  # where `zipfile` looks for it, too
    count = 0
    while 0 <= at < end and archive.startswith(_CENTRAL, at):
        count += 1
        if count > most:
            raise _Problem("too_many")
        sizes = [int.from_bytes(archive[at + place : at + place + 2], "little") for place in (28, 30, 32)]
        at += _CENTRAL_BYTES + sum(sizes)


def _must_not_overlap(entries: list[zipfile.ZipInfo], end: int) -> None:
    """Entries that share bytes unpack to far more than the archive holds; no tool makes such on purpose."""
    ordered = sorted(entries, key=lambda entry: entry.header_offset)
    nexts = [*ordered[1:], None]
    for entry, following in zip(ordered, nexts, strict=True):
        limit = following.header_offset if following else end
        if entry.header_offset < 0 or entry.header_offset + _LOCAL_BYTES + entry.compress_size > limit:
            raise _Problem("overlap", entry.orig_filename, following.orig_filename if following else "")


def _zip_kind(entry: zipfile.ZipInfo) -> str:
    if entry.orig_filename.endswith("/"):
        return "other"
    mode = entry.external_attr >> 16  # Unix tools put st_mode here; others leave it 0
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "link" if stat.S_ISLNK(mode) else "special"
    if entry.flag_bits & _ENCRYPTED:
        return "encrypted"
    return "file" if entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) else "method"


# --- tar --------------------------------------------------------------------------------------------------------


def _tar_entries(archive: bytes, caps: Caps) -> Iterator[tuple[str, str, _Read]]:
    if archive.startswith(b"\x1f\x8b"):
        archive = _inflated(archive, caps.unpacked_bytes)
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:", errors="surrogateescape", encoding="utf-8") as opened:
        for entry in opened:
            yield entry.name, _tar_kind(entry), _Read(lambda entry=entry: opened.extractfile(entry), entry.size)
        # The parser stops without a word at what is no header: only zeros, or nothing, are an end.
        if archive[opened.offset : opened.offset + tarfile.BLOCKSIZE].strip(b"\0"):
            raise _Problem("damaged")


def _inflated(archive: bytes, most: int) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(archive)) as opened:
        data = opened.read(most + 1)
    if len(data) > most:
        raise _Problem("too_large")
    return data


def _tar_kind(entry: tarfile.TarInfo) -> str:
    if entry.isdir():
        return "other"
    if entry.issym():
        return "link"
    if entry.islnk():
        return "hard_link"
    if entry.issparse():
        return "sparse"
    return "file" if entry.isreg() else "special"
