"""Zip files that this program makes: a wheel, a package for Gradescope. The same members give the same bytes.

Nothing is read here. What a student packed is taken apart elsewhere, in a process of its own (`worker.unpack`).
"""

import contextlib
import os
import stat
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

#: The earliest time a zip file can hold: none that anybody could take for the time of a change.
_NO_TIME = (1980, 1, 1, 0, 0, 0)
#: `create_system` of files whose mode is that of Unix (APPNOTE.TXT 4.4.2).
_UNIX = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One file of a zip file."""

    #: Path inside, with slashes.
    name: str
    data: bytes
    is_executable: bool = False


def write_zip(path: Path, members: Iterable[Member]) -> None:
    """Replace a file whole by a zip file of these members, in their order. Raises OSError."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with open(descriptor, "wb") as file:
            os.fchmod(descriptor, 0o644)
            with zipfile.ZipFile(file, "w") as archive:
                for member in members:
                    archive.writestr(_described(member), member.data, zipfile.ZIP_DEFLATED)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):  # an interruption may come right after the replacement
            os.unlink(temporary)
        raise


def _described(member: Member) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(member.name, _NO_TIME)
    info.create_system = _UNIX
    info.external_attr = (stat.S_IFREG | (0o755 if member.is_executable else 0o644)) << 16
    return info
