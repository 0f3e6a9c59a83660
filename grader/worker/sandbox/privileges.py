"""What a worker gives up of its user's rights: the user itself where it is root, capabilities, being inspected."""

import ctypes
import os
import pwd
from collections.abc import Iterable, Iterator

from .kernel import IS_LINUX, LIBC, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, check, prctl

_NEW_USER = 0x10000000  # CLONE_NEWUSER, linux/sched.h
_CAPABILITY_VERSION_3 = 0x20080522  # linux/capability.h
#: Below the ranges that systems give to people, containers and services; the first that nobody has is taken.
_CANDIDATES = range(59_999, 59_900, -1)


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("process", ctypes.c_int))


def hide_memory() -> None:
    """Let no process of the same user read this one's memory, descriptors or environment, or trace it."""
    if IS_LINUX:
        prctl(PR_SET_DUMPABLE, 0)


def gain_no_rights() -> None:
    """Let no program that is started from here on have more rights than this process."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def renounce() -> None:
    """Gain no right from now on, and hold no capability."""
    gain_no_rights()
    header = _Header(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    check(LIBC.capset(ctypes.byref(header), ctypes.byref(nothing)), "capset")


def unused_user() -> int | None:
    """A user number that nobody has; None where this process is not root and could not take it.

    To be asked where the system's list of users can be read, outside of any namespace.
    """
    if os.geteuid() != 0:
        return None
    for number in _CANDIDATES:
        try:
            pwd.getpwuid(number)
        except KeyError:
            return number
    return None


def be_alone() -> None:
    """Have the kernel count this process's threads by themselves: a user namespace has a count of its own.

    Raises:
        OSError: this system allows no such namespace.
    """
    check(LIBC.unshare(_NEW_USER), "unshare")


def become(user: int) -> None:
    """Become that user and its group, without any other group, for good. Raises OSError."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def why_not(user: int, readable: Iterable[str]) -> str:
    """Why root cannot work as that user: what it could not read, found by trying in a child. Empty when it can."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            become(user)
            os.write(writing, next(_unreadable(readable), "").encode(errors="replace"))
        except OSError as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, errors="replace") as answer:
        found = answer.read()
    os.waitpid(child, 0)
    return found


def _unreadable(paths: Iterable[str]) -> Iterator[str]:
    """Those of the paths, and of what lies directly in them, that exist and cannot be read."""
    for path in paths:
        inside = [os.path.join(path, name) for name in os.listdir(path)] if _is_open_folder(path) else []
        yield from (f"{one} is not readable for it" for one in (path, *inside) if not _can_read(one))


def _is_open_folder(path: str) -> bool:
    return os.path.isdir(path) and os.access(path, os.R_OK | os.X_OK)


def _can_read(path: str) -> bool:
    try:
        os.stat(path)
    except PermissionError:  # a folder on the way is closed to it
        return False
    except OSError:  # it is not there at all
        return True
    return os.access(path, os.R_OK)
