"""The zip of a class becomes names and bytes, in a process of its own. Nothing is written to a disk here.

A platform makes the zip, but students chose most names in it and all contents, so it is read as any archive is (see
`unpack`): by a process that holds no secret, may use little memory, and is killed when it takes too long. The zip comes
as standard input, a file that can be sought in. What goes out, after the word that it is ready, is a frame per entry:
a length, then JSON `[NAME, KIND]`; after the kind `file` chunks follow, each with its length in front, until a length
of `DONE` or `DAMAGED`. The last frame's kind is `end`, or `problem` with what is wrong in the place of the name.
`grader.layouts.class_zip` checks all of that.
"""

import json
import struct
import sys
import zipfile
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from .class_frames import DAMAGED, DONE, LENGTH
from .sandbox.layers import Sandbox
from .sandbox.limits import Limits, apply

_CHUNK = 256 * 1024
_LOCAL = struct.Struct("<4s22xHH")
_UNICODE, _ENCRYPTED = 0x800, 0x1 | 0x40 | 0x2000
_FILE_KINDS = (0, 0o100000)


class Wanted(NamedTuple):
    """What is sent, by the word of the process that asks."""

    #: Endings of names, in small letters; the content of everything else stays where it is.
    endings: tuple[str, ...]
    #: Bytes of one file, and of one whose name is in `large`.
    file_bytes: int
    large: tuple[str, ...]
    large_bytes: int
    entries: int


def main(arguments: dict[str, Any]) -> None:
    """Look at the zip, and send what is wanted of it."""
    sandbox = Sandbox(arguments["readable"], arguments["user"], parent=arguments["parent"])
    apply(Limits(cpu_s=arguments["cpu_s"], memory_mib=arguments["memory_mib"], files=16))
    sandbox.enter()
    out = sys.stdout.buffer
    out.write(arguments["ready"].encode())
    out.flush()
    asked = arguments["wanted"]
    send(sys.stdin.buffer, out, Wanted(**{**asked, "endings": tuple(asked["endings"])}))


def send(archive: IO[bytes], out: IO[bytes], wanted: Wanted) -> None:
    """Send a frame for each entry, and one for the end or for what is wrong."""
    try:
        with zipfile.ZipFile(archive) as opened:
            entries = opened.infolist()
            if len(entries) > wanted.entries:
                _frame(out, "too_many", "problem")
                return
            for entry in entries:
                _send_entry(opened, entry, out, wanted)
        _frame(out, "", "end")
    except BrokenPipeError:
        raise
    except MemoryError:
        _frame(out, "memory", "problem")
    except Exception:  # the parser raises whatever comes when a zip is no zip
        _frame(out, f"damaged {_first_name(archive)}", "problem")
    out.flush()


def _send_entry(opened: zipfile.ZipFile, entry: zipfile.ZipInfo, out: IO[bytes], wanted: Wanted) -> None:
    name = _name(entry)
    kind = _kind(entry, name, wanted)
    _frame(out, name, kind)
    if kind != "file":
        return
    end = DONE
    try:
        for chunk in _chunks(opened, entry):
            out.write(LENGTH.pack(len(chunk)) + chunk)
    except BrokenPipeError:
        raise
    except Exception:  # as in `send`; here it is the one entry's trouble
        end = DAMAGED
    out.write(LENGTH.pack(end))


def _name(entry: zipfile.ZipInfo) -> str:
    """The name as it was given: tools that do not say it is Unicode often write UTF-8 all the same."""
    name = entry.orig_filename
    if entry.flag_bits & _UNICODE:
        return name
    try:
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name


def _kind(entry: zipfile.ZipInfo, name: str, wanted: Wanted) -> str:
    if name.endswith("/"):
        return "folder"
    if (entry.external_attr >> 16) & 0o170000 not in _FILE_KINDS:
        return "special"
    last = name.rpartition("/")[2].lower()
    if last not in wanted.large and not last.endswith(wanted.endings):
        return "name"
    if entry.flag_bits & _ENCRYPTED or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "unusual"
    most = wanted.large_bytes if last in wanted.large else wanted.file_bytes
    return "file" if entry.file_size <= most else "large"


def _chunks(opened: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    """The data, of exactly the length that was declared; more than that the parser does not give."""
    left = entry.file_size
    with opened.open(entry) as file:
        while chunk := file.read(_CHUNK):
            left -= len(chunk)
            yield chunk
    if left:
        raise ValueError("an entry that is shorter than it says")


def _frame(out: IO[bytes], name: str, kind: str) -> None:
    header = json.dumps([name, kind]).encode()
    out.write(LENGTH.pack(len(header)) + header)


def _first_name(archive: IO[bytes]) -> str:
    """Name of the first entry of a zip that is cut off at its end, where its table would be."""
    try:
        archive.seek(0)
        mark, length, _ = _LOCAL.unpack(archive.read(_LOCAL.size))
        return archive.read(length).decode("utf-8", "replace") if mark == b"PK\x03\x04" else ""
    except (OSError, struct.error):
        return ""
