"""One regular file, read to its end without following a link, waiting for anybody, or reading more than is wanted."""

import errno
import os
import stat

from grader.intake.tree import IS_HARD_LINK, IS_LINK, IS_REPLACED, IS_SPECIAL, IntakeError

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_OPEN_FOLDER = _OPEN | os.O_DIRECTORY
#: What this machine lacks, whatever is opened.
_LACKS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)


class Unreadable(Exception):
    """Why a file or folder cannot be read, for its student."""


def open_folder(name: str, *, within: int | None = None) -> int:
    """A descriptor of a folder that is one itself, and no link to one; `name` is relative to the descriptor `within`.

    Raises:
        Unreadable: it is something else, is gone, or may not be read.
        IntakeError: no descriptor is left.
    """
    try:
        return os.open(name, _OPEN_FOLDER, dir_fd=within)
    except OSError as error:
        raise _unreadable(error, name, within) from None


def read_regular(name: str, most: int, too_large: str, *, within: int | None = None) -> bytes:
    """The bytes of a regular file, as they are at this moment; `name` is relative to the descriptor `within`.

    What it is is asked before opening it, because opening a device can do something, and after, because another one can
    have come in its place; then it is none of the two.

    Raises:
        Unreadable: it is no regular file, has a second name, is larger than `most` (`too_large`), or may not be read.
        IntakeError: no descriptor is left.
    """
    try:
        seen = os.stat(name, dir_fd=within, follow_symlinks=False)
        _must_be_regular(seen)
        descriptor = os.open(name, _OPEN, dir_fd=within)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            _must_be_regular(found)
            if not os.path.samestat(seen, found):
                raise Unreadable(IS_REPLACED)
            if found.st_size > most:
                raise Unreadable(too_large)
            data = file.read(most + 1)
    except OSError as error:
        raise _unreadable(error, name, within) from None
    if len(data) > most:
        raise Unreadable(too_large)
    return data


def _must_be_regular(found: os.stat_result) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise Unreadable(IS_LINK)
    if not stat.S_ISREG(found.st_mode):
        raise Unreadable(IS_SPECIAL)
    if found.st_nlink > 1:
        raise Unreadable(IS_HARD_LINK)


def _unreadable(error: OSError, name: str, within: int | None) -> Unreadable:
    if error.errno in _LACKS:
        raise IntakeError(f"{name} cannot be opened: {error.strerror}; grade with fewer --jobs") from None
    if error.errno == errno.ELOOP or (error.errno == errno.ENOTDIR and _is_link(name, within)):
        return Unreadable(IS_LINK)
    return Unreadable(f"it cannot be read: {error.strerror}")


def _is_link(name: str, within: int | None) -> bool:
    """With O_DIRECTORY, Linux says of a link only that it is no folder."""
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=within, follow_symlinks=False).st_mode)
    except OSError:
        return False
