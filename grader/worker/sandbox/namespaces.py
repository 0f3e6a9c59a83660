"""Fresh namespaces for the zygote: processes, files, network, IPC and host name of its own, where the system allows.

In them there is no process but workers, no network, and no file but those that may be read; killing the first process
kills all at once. Entered by the interpreter before it imports torch, while it has one thread.
Sources: namespaces(7), user_namespaces(7), mount(2), pivot_root(2), mount_setattr(2).
"""

import ctypes
import functools
import os
import select
import signal
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

from . import limits
from .kernel import LIBC, check, succeeds_in_child, syscall
from .syscalls import here

# linux/sched.h
_KINDS = {
    "user": 0x10000000,
    "pid": 0x20000000,
    "mount": 0x00020000,
    "net": 0x40000000,
    "ipc": 0x08000000,
    "uts": 0x04000000,
}
_ALL = ("user", "pid", "mount", "net", "ipc", "uts")
#: What is tried in turn: root needs no user namespace, and keeps its choice of user numbers without one; where no
#: file system may be mounted, the others still help.
_ATTEMPTS = (_ALL, ("user", "net", "ipc", "uts"))
_ATTEMPTS_OF_ROOT = (_ALL[1:], _ALL, ("net", "ipc", "uts"))
# linux/mount.h
_BIND, _RECURSIVE, _PRIVATE, _DETACH = 4096, 16384, 1 << 18, 2
_NO_SUID, _NO_DEV, _NO_EXEC = 2, 4, 8
_RECURSIVE_AT, _READ_ONLY_ATTRIBUTE, _NO_SUID_ATTRIBUTE = 0x8000, 1, 2
#: Where the new root is put together; nothing that may be read lies there.
_NEW_ROOT = "/proc"


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("flags", ctypes.c_uint64),
        ("user", ctypes.c_uint64),
    )


def enter(readable: Sequence[str]) -> list[str]:
    """Enter fresh namespaces in which only these files and folders exist; returns their kinds.

    Where they have processes of their own, the caller goes on as the first of them, in a child: the process that called
    stays outside, to end with it and to end it.
    """
    for kinds in _ATTEMPTS_OF_ROOT if os.geteuid() == 0 else _ATTEMPTS:
        if succeeds_in_child(functools.partial(_enter, kinds, readable)):  # all of it: a process cannot go back
            _enter(kinds, readable)
            return list(kinds)
    return []


def _enter(kinds: Sequence[str], readable: Sequence[str]) -> None:
    user, group = os.geteuid(), os.getegid()
    check(LIBC.unshare(sum(_KINDS[kind] for kind in kinds)), "unshare")
    if "user" in kinds:
        _map_to_itself(user, group)
    if "uts" in kinds:
        check(LIBC.sethostname(b"worker", 6), "sethostname")
    if "pid" in kinds:
        _go_on_in_child()
    if "mount" in kinds:
        _new_root(readable)


def _map_to_itself(user: int, group: int) -> None:
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def _go_on_in_child() -> None:
    """Fork, and return in the child, which is the first process of the new namespace."""
    ends_with_parent, parents = os.pipe()
    child = os.fork()
    if child:
        _stay_outside(child, parents)
    os.close(parents)
    limits.end_with_parent()
    if select.select([ends_with_parent], [], [], 0)[0]:  # the parent had ended before this was asked for
        os._exit(1)
    os.close(ends_with_parent)


def _stay_outside(child: int, kept: int) -> NoReturn:
    """Wait for the end of the namespace, which SIGTERM brings about; every process in it has gone by then."""
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limits.close_all_but(kept)  # the sockets are the child's: their end must show when it has gone
    status = os.waitpid(child, 0)[1]
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


# --- files -----------------------------------------------------------------------------------------------------


def _new_root(readable: Iterable[str]) -> None:
    """Make a file system in which only these exist the root, read-only."""
    _mount(None, "/", None, _RECURSIVE | _PRIVATE)
    _mount("tmpfs", _NEW_ROOT, "tmpfs", _NO_SUID | _NO_DEV)
    os.umask(0o022)
    shown: set[str] = set()
    for path in readable:
        _show(path, shown)
    os.mkdir(f"{_NEW_ROOT}/proc")
    _mount("proc", f"{_NEW_ROOT}/proc", "proc", _NO_SUID | _NO_DEV | _NO_EXEC)
    os.chdir(_NEW_ROOT)
    check(LIBC.pivot_root(b".", b"."), "pivot_root")
    check(LIBC.umount2(b".", _DETACH), "umount2")
    os.chdir("/")
    architecture = here()
    if architecture:
        attributes = _MountAttributes(set=_READ_ONLY_ATTRIBUTE | _NO_SUID_ATTRIBUTE)
        size = ctypes.sizeof(attributes)
        syscall(architecture.numbers["mount_setattr"], -100, b"/", _RECURSIVE_AT, ctypes.byref(attributes), size)


def _show(path: str, shown: set[str]) -> None:
    """Let a file or folder appear in the new root under its name, with the links that lead to it."""
    for link, target in _links_on(path):
        if not os.path.lexists(_NEW_ROOT + link):
            _make_folder(os.path.dirname(link))
            os.symlink(target, _NEW_ROOT + link)
    real = os.path.realpath(path)
    if not os.path.exists(real) or any(real == other or real.startswith(f"{other}/") for other in shown):
        return  # there already; nothing may be made inside a folder that is shown
    shown.add(real)
    _make_folder(os.path.dirname(real))
    if stat.S_ISDIR(os.stat(real).st_mode):
        _make_folder(real)
    else:
        os.close(os.open(_NEW_ROOT + real, os.O_CREAT | os.O_WRONLY, 0o644))
    _mount(real, _NEW_ROOT + real, None, _BIND | _RECURSIVE)


def _make_folder(path: str) -> None:
    os.makedirs(_NEW_ROOT + path, 0o755, exist_ok=True)


def _links_on(path: str) -> Iterator[tuple[str, str]]:
    """The symbolic links that are followed from the root to a path, each by its real place, and where it leads."""
    place = "/"
    waiting = [step for step in path.split("/") if step]
    for _ in range(100):  # more links than that is a loop
        if not waiting:
            return
        step = waiting.pop(0)
        if step == "..":
            place = os.path.dirname(place)
            continue
        one = os.path.join(place, step)
        if step == "." or not os.path.islink(one):
            place = place if step == "." else one
            continue
        target = os.readlink(one)
        yield one, target
        place = "/" if target.startswith("/") else place
        waiting = [step for step in target.split("/") if step] + waiting


def _mount(source: str | None, target: str, kind: str | None, flags: int) -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind)]
    check(LIBC.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), None), f"mount on {target}")
