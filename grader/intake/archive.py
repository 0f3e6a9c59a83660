"""A zip or tar becomes a tree. It is opened here, taken apart in a process of its own, and never unpacked to a disk.

The unpacker's answer is believed in nothing: what does not have its exact form is refused, and every name and size is
judged here again. Names that would lead out of a folder, or that some disks hold for one, refuse the whole archive:
whoever unpacked it to look at it would not see what was graded.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.intake.regular import Unreadable, read_regular
from grader.intake.tree import (
    DEEPEST,
    IS_HARD_LINK,
    IS_LINK,
    IS_SPECIAL,
    MIB,
    MOST_BYTES,
    MOST_ENTRIES,
    MOST_LISTED,
    MOST_NOTEBOOK,
    MOST_TOTAL,
    TOO_DEEP,
    TOO_MANY,
    TOO_MANY_NOTEBOOKS,
    TOO_MUCH,
    Gathering,
    Refusal,
    Tree,
    most_bytes,
    said_of,
)
from grader.intake.unpacker import Ended, run_unpacker
from grader.names import NOISE, folded, is_noise
from grader.record import clean_text

#: Bytes of an archive: as much as all source files in it may hold.
MOST_PACKED = 20 * MIB
#: Bytes of a tar that was compressed, pictures and all.
MOST_UNPACKED = 64 * MIB
#: Bytes of the unpacker's answer: all files in base64, and 2000 names of a disk's greatest length.
_MOST_ANSWER = (MOST_TOTAL + MOST_NOTEBOOK) * 4 // 3 + MOST_ENTRIES * 4096 * 6
_LONGEST_NAME = 4096
_DRIVE = re.compile(r"[A-Za-z]:")

#: Why an entry is left, by the unpacker's word for it.
_REASONS = {
    "link": IS_LINK,
    "hard_link": IS_HARD_LINK,
    "special": IS_SPECIAL,
    "crowded": TOO_MANY_NOTEBOOKS,
    "sparse": "it is a sparse file, which is not read; make the archive without --sparse",
    "encrypted": "it is encrypted; make the archive without a password",
    "method": "it is compressed in an unusual way; make the archive with the usual one (deflate)",
    "damaged": "it is damaged in the archive; make the archive again",
}
#: Why nothing is taken, by the unpacker's word for it.
_PROBLEMS = {
    "damaged": "the archive is damaged, or no {suffix} whatever its name says; make it again and open it once to see",
    "memory": "reading the archive takes too much memory, as no homework does; pack the Python files alone",
    "too_large": f"the archive unpacks to more than {MOST_UNPACKED // MIB} MiB; pack the Python files alone",
    "too_much": f"the archive cannot be taken: {TOO_MUCH}",
    "too_many": f"the archive holds {TOO_MANY}",
    "overlap": "entries of the archive lie upon each other ({first}, {second}); make it again with an ordinary tool",
}
_TOO_SLOW = "reading the archive takes too long, as no homework does; pack the Python files alone"
_ASTRAY = "reading the archive went wrong as with no ordinary one; pack the Python files alone"


def read_archive(path: Path) -> Tree:
    """What can be taken of an archive.

    Raises:
        IntakeError: this machine has no descriptor or process left for it.
    """
    try:
        archive = read_regular(str(path), MOST_PACKED, f"it is larger than {MOST_PACKED // MIB} MiB")
    except Unreadable as problem:
        return Tree.of_refusal(Refusal(said_of("the archive", str(problem))))
    try:
        return gathered(read_answer(_ask(archive, path.name), path.name))
    except Refusal as refusal:
        return Tree.of_refusal(Refusal(str(refusal), hashlib.sha256(archive).hexdigest()))


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry, in a form that can be relied on."""

    name: str
    #: The bytes of a Python file or a notebook, or why it has none; None for what is neither.
    content: bytes | str | None


def _ask(archive: bytes, name: str) -> bytes:
    """The unpacker's answer.

    Raises:
        Refusal: the archive prevents one.
        IntakeError: the unpacker did not start.
    """
    settings = {
        "format": "zip" if name.lower().endswith(".zip") else "tar",
        "noise": sorted(NOISE),
        "caps": {
            "file_bytes": MOST_BYTES,
            "total_bytes": MOST_TOTAL,
            "notebook_bytes": MOST_NOTEBOOK,
            "unpacked_bytes": MOST_UNPACKED,
            "entries": MOST_ENTRIES,
            "listed": MOST_LISTED,
        },
    }
    answer = run_unpacker(archive, settings, _MOST_ANSWER)
    if isinstance(answer, Ended):
        raise Refusal(_TOO_SLOW if answer is Ended.TOO_SLOW else _ASTRAY)
    return answer


def read_answer(answer: bytes, name: str) -> list[Entry]:
    """What the unpacker says is in the archive of that name, once it has the form it must have.

    Raises:
        Refusal: it says that nothing can be taken, or it has another form.
    """
    try:
        match json.loads(answer):
            case {"entries": list(entries), **rest} if not rest and len(entries) <= MOST_ENTRIES:
                return [_entry(one) for one in entries]
            case {"problem": [str(kind), str(first), str(second)], **rest} if not rest:
                raise Refusal(_problem(kind, first, second, name))
    except (ValueError, KeyError, RecursionError):
        pass
    raise Refusal(_ASTRAY)


def _entry(said: Any) -> Entry:
    """Raises ValueError or KeyError for what is no entry."""
    match said:
        case [str(name), str(kind), data] if len(name) <= _LONGEST_NAME:
            if kind == "other" and data is None:
                return Entry(name, None)
            if most := most_bytes(name):
                return Entry(name, _content(kind, data, *most))
    raise ValueError("no entry")


def _content(kind: str, data: Any, most: int, too_large: str) -> bytes | str:
    """The bytes of an entry that is taken, or why it has none. Raises ValueError or KeyError for neither."""
    if data is None:
        return too_large if kind == "too_large" else _REASONS[kind]
    if kind != "file" or not isinstance(data, str):
        raise ValueError("no content")
    content = base64.b64decode(data, validate=True)
    if len(content) > most:
        raise ValueError("a file larger than was asked for")
    return content


def _problem(kind: str, first: str, second: str, name: str) -> str:
    suffix = "zip" if name.lower().endswith(".zip") else "tar"
    return _PROBLEMS[kind].format(suffix=suffix, first=_shown(first), second=_shown(second) or "its end")


def gathered(entries: Iterable[Entry]) -> Tree:
    """The tree of an archive's entries.

    Raises:
        Refusal: two of them cannot lie in one folder, or one would lie outside, or they are too much.
    """
    gathering = Gathering()
    seen: dict[str, str] = {}
    for entry in entries:
        parts = _parts(entry.name)
        name = "/".join(parts)
        if not name or any(map(is_noise, parts)):
            continue
        if len(parts) > DEEPEST:
            gathering.leave(name, TOO_DEEP)
        elif entry.content is None:
            gathering.pass_by(name)
        else:
            key = folded(name)
            if key in seen:
                raise Refusal(
                    f"the archive holds two files whose names are one on many disks ({_shown(seen[key])} and "
                    f"{_shown(name)}); remove one"
                )
            seen[key] = name
            gathering.take(name, entry.content)
    return gathering.tree()


def _parts(name: str) -> list[str]:
    """The folders and the file that a name names.

    Raises:
        Refusal: it leads out of the folder that the archive would be unpacked to, here or on another system.
    """
    parts = [part for part in name.split("/") if part not in ("", ".")]
    leads_out = any(part == ".." or _DRIVE.match(part) for part in parts)
    if leads_out or name.startswith("/") or "\\" in name or "\0" in name:
        raise Refusal(
            f"the archive holds the name {_shown(name)}, which leads out of its folder on some systems; wanted names "
            "without '..', '\\', a drive or a '/' at their beginning: make it again with an ordinary tool"
        )
    return parts


def _shown(name: str) -> str:
    return clean_text(name if len(name) <= 100 else f"{name[:99]}…")
