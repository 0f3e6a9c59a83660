"""Files that are replaced whole: at any moment a name leads to the old file or to the new one, never to half of one."""

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

#: Ending of what a killed write leaves; its name begins with a dot.
TORN = ".tmp"


def replace_whole(path: Path, pieces: Iterable[bytes], *, mode: int = 0o644, is_forced: bool = False) -> None:
    """Write a file beside its place and move it there.

    Args:
        path: where; its folder exists.
        pieces: the content, in order.
        mode: permissions of the new file.
        is_forced: have it on the disk before this returns, so that it outlives a loss of power.

    Raises:
        OSError: it cannot be written; what was there is still there.
    """
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=TORN)
    try:
        with open(descriptor, "wb") as file:
            os.fchmod(descriptor, mode)
            file.writelines(pieces)
            if is_forced:
                file.flush()
                os.fsync(descriptor)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):  # an interruption may come right after the replacement
            os.unlink(temporary)
        raise
    if is_forced:
        _force_folder(path.parent)


def _force_folder(folder: Path) -> None:
    """Have the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_output(path: Path, data: bytes) -> None:
    """Write what a person asked to have in a file. One that is there is replaced whole, and keeps its permissions.

    A link leads to the file that is replaced; into a pipe or a device the data is written as it is.

    Raises:
        OSError: it cannot be written, and names `path`; a file that was there is still there.
    """
    place = path.resolve()
    try:
        if place.exists() and not place.is_file():
            place.write_bytes(data)  # a folder is refused by the system
        else:
            replace_whole(place, [data], mode=_mode(place))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _mode(place: Path) -> int:
    """The permissions of a file, or those that a new one gets."""
    try:
        return stat.S_IMODE(place.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
