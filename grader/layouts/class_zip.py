"""The zip of a class: its names, and a folder with what is of use in it for as long as the class is graded.

It is taken apart by `grader.worker.unpack_class`, a process that is believed in nothing: names and sizes are judged
here again, and every file is made here, new, below one folder. Files that nobody reads are there in name only.
"""

import errno
import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, BinaryIO

from grader.intake.archive import MOST_PACKED
from grader.intake.process import READY, start_process
from grader.layouts.gradescope import METADATA, MOST_METADATA
from grader.layouts.layout import LayoutError, named
from grader.names import is_noise
from grader.record import clean_text
from grader.worker.class_frames import DAMAGED, DONE, LENGTH

#: What is read of a submission: everything else is of no use but for its name.
_ENDINGS = (".py", ".ipynb", ".zip", ".tar", ".tar.gz", ".tgz")
#: Entries of a class, and bytes written for it: a thousand students with ten files, and archives, of usual size.
MOST_ENTRIES, MOST_WRITTEN = 200_000, 4 * 1024**3
_CPU_S, _MEMORY_MIB, _DEADLINE_S = 300, 512, 900.0
_MOST_HEADER = 512 * 1024
_MOST_CHUNK = 1024 * 1024
_DEEPEST = 32
#: What a name that cannot be used on this disk gives.
_BAD_NAME = frozenset({errno.EEXIST, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ})
_UNPACK_IT = "unpack it, and name the folder instead"
_AGAIN = "download it again; `unzip -t` shows whether it is whole"


class DamagedZip(LayoutError):
    """A zip whose table of contents cannot be read. `first`: name of its first entry, if there is one."""

    def __init__(self, path: Path, first: str) -> None:
        super().__init__(f"{path} is damaged, perhaps cut off while it was downloaded: {_AGAIN}")
        self.first = first


def names_in(path: Path) -> list[str]:
    """Names of the entries, leftovers of tools aside; folders end in `/`.

    Raises:
        DamagedZip: it is cut off, or no zip.
        LayoutError: there is too much in it, or it cannot be read.
    """
    names = []
    with _Unpacker(path, ()) as unpacker:
        for name, _ in unpacker.entries():
            names.append(name)
    return names


@contextmanager
def unpacked(path: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """A folder with the files of a class, removed at the end of the block; and remarks on what is not in it.

    Raises:
        LayoutError: an entry is damaged, or there is too much in it.
        OSError: the folder cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="grade-class-") as folder:
        writing = _Writing(path, Path(folder))
        with _Unpacker(path, _ENDINGS) as unpacker:
            for name, kind in unpacker.entries():
                writing.write(name, kind, unpacker)
        yield Path(folder), writing.remarks()


class _Unpacker:
    """The process, and what it sends."""

    def __init__(self, path: Path, endings: tuple[str, ...]) -> None:
        self._path, self._endings = path, endings

    def __enter__(self) -> "_Unpacker":
        wanted = {
            "endings": self._endings,
            "file_bytes": MOST_PACKED,
            "large": [METADATA] if self._endings else [],
            "large_bytes": MOST_METADATA,
            "entries": MOST_ENTRIES,
        }
        with open(self._path, "rb") as archive:
            self._process = _start({"wanted": wanted}, archive)
        assert self._process.stdout is not None
        self._stream = _Stream(self._process.stdout, self._path)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        exit_code = self._process.wait()
        self._stream.close()
        if exit_code == -signal.SIGXCPU:
            raise LayoutError(f"{self._path} takes too long to read; {_UNPACK_IT}") from None

    def entries(self) -> Iterator[tuple[str, str]]:
        """Name and kind of each; the content of a `file` is to be read before the next."""
        if self._stream.exactly(len(READY)) != READY:
            raise self._stream.astray()
        while True:
            name, kind = self._header()
            if kind == "end":
                return
            if kind == "problem":
                raise self._problem(name)
            if not any(is_noise(part) for part in name.split("/") if part not in (".", "..")):
                yield name, kind
            elif kind == "file":
                for _ in self.content(name):
                    pass

    def content(self, name: str) -> Iterator[bytes]:
        """The bytes of a file, in pieces.

        Raises:
            LayoutError: they are damaged.
        """
        while (length := self._length()) != DONE:
            if length == DAMAGED:
                raise LayoutError(f"{self._path} is damaged: {_shown(name)} in it cannot be read; {_AGAIN}")
            if length > _MOST_CHUNK:
                raise self._stream.astray()
            yield self._stream.exactly(length)

    def _length(self) -> int:
        (length,) = LENGTH.unpack(self._stream.exactly(LENGTH.size))
        return int(length)

    def _header(self) -> tuple[str, str]:
        length = self._length()
        if length > _MOST_HEADER:
            raise self._stream.astray()
        try:
            match json.loads(self._stream.exactly(length)):
                case [str(name), str(kind)]:
                    return name, kind
        except (ValueError, RecursionError):
            pass
        raise self._stream.astray()

    def _problem(self, said: str) -> LayoutError:
        kind, _, first = said.partition(" ")
        if kind == "damaged":
            return DamagedZip(self._path, first)
        trouble = f"holds more than {MOST_ENTRIES} entries" if kind == "too_many" else "takes too much memory to read"
        return LayoutError(f"{self._path} {trouble}; {_UNPACK_IT}")


def _start(settings: dict[str, object], archive: BinaryIO) -> "subprocess.Popen[bytes]":
    try:
        return start_process("unpack_class", settings, archive, cpu_s=_CPU_S, memory_mib=_MEMORY_MIB)
    except OSError as error:
        raise LayoutError(f"no process to unpack {archive.name} could be started: {error.strerror}") from None


class _Stream:
    """Reads exact numbers of bytes from a pipe, until a deadline."""

    def __init__(self, pipe: IO[bytes], path: Path) -> None:
        self._pipe, self._path = pipe, path
        self._deadline = time.monotonic() + _DEADLINE_S
        self._buffer = bytearray()
        self._selector = selectors.DefaultSelector()
        self._selector.register(pipe, selectors.EVENT_READ)

    def close(self) -> None:
        """Listen no more."""
        self._selector.close()
        self._pipe.close()

    def exactly(self, length: int) -> bytes:
        """Raises LayoutError when there is not as much."""
        while len(self._buffer) < length:
            if not self._selector.select(max(self._deadline - time.monotonic(), 0)):
                raise LayoutError(f"{self._path} takes too long to read; {_UNPACK_IT}")
            some = os.read(self._pipe.fileno(), _MOST_CHUNK)
            if not some:
                raise self.astray()
            self._buffer += some
        data = bytes(self._buffer[:length])
        del self._buffer[:length]
        return data

    def astray(self) -> LayoutError:
        """The unpacker ended, or sent what it never should."""
        return LayoutError(f"{self._path} cannot be read, as no download of a platform; {_UNPACK_IT}")


@dataclass(slots=True)
class _Writing:
    """The folder in the making."""

    path: Path
    folder: Path
    written: int = 0
    #: Names that are not there, by the reason.
    left: dict[str, list[str]] = field(default_factory=dict)

    def write(self, name: str, kind: str, unpacker: _Unpacker) -> None:
        """Make one file or folder."""
        content = self._counted(unpacker.content(name)) if kind == "file" else iter(())
        try:
            self._make(self._place(name, kind), kind, content)
        except _Left as reason:
            self.left.setdefault(str(reason), []).append(name)
            for _ in content:
                pass

    def remarks(self) -> tuple[str, ...]:
        """What is not there, and why."""
        return tuple(f"{self.path.name}: {named(names)}: {reason}" for reason, names in self.left.items())

    def _counted(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self.written += len(chunk)
            if self.written > MOST_WRITTEN:
                raise LayoutError(f"{self.path} unpacks to more than {MOST_WRITTEN >> 30} GiB; {_UNPACK_IT}")
            yield chunk

    def _place(self, name: str, kind: str) -> Path:
        """Where it goes. Raises _Left when nowhere."""
        if kind not in ("file", "large", "name", "folder"):
            raise _Left(_REASONS.get(kind, _REASONS["special"]))
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if not parts or ".." in parts or name.startswith("/") or "\0" in name or len(parts) > _DEEPEST:
            raise _Left("its name leads out of the folder, or too deep; left")
        return self.folder.joinpath(*parts)

    def _make(self, place: Path, kind: str, content: Iterator[bytes]) -> None:
        """Raises _Left when the disk knows no such name, or has it already."""
        try:
            (place if kind == "folder" else place.parent).mkdir(parents=True, exist_ok=True)
            if kind == "folder":
                return
            file = open(place, "xb")  # noqa: SIM115 (what fails once it is open is another matter)
        except (OSError, ValueError) as error:
            if isinstance(error, ValueError) or error.errno in _BAD_NAME:
                raise _Left("a file of that name cannot be made here, or is there already; left") from None
            raise
        with file:
            if kind == "large":  # as large as it may not be, without taking up the place: intake says so
                os.ftruncate(file.fileno(), MOST_PACKED + 1)
            file.writelines(content)


class _Left(Exception):
    """Why an entry is not in the folder."""


_REASONS = {
    "special": "a link or another thing that is no file; left",
    "unusual": "encrypted, or compressed in an unusual way; unpack the zip by hand",
}


def _shown(name: str) -> str:
    return clean_text(name if len(name) <= 100 else f"{name[:99]}…")
