"""Landlock: what a worker may read. It may write nothing (but to /dev/null), connect to nothing, and signal nobody.

A ruleset is made once, in the zygote; a worker that puts it on loses the rights for good. Why no binding: those on the
package index are development releases of one person, or younger than this, and cost two to ten times as much.
Sources: landlock(7), linux/landlock.h.
"""

import ctypes
import os
import stat
from collections.abc import Iterable

from .kernel import syscall
from .syscalls import Architecture

_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
#: The number of rights over files that each version of the interface knows (bits from 0).
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_BIND_AND_CONNECT_TCP = 0b11  # since version 4
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11  # since version 6
_VERSION_FLAG = 1
_PATH_BENEATH = 1
#: Files that may be written: nothing stays of what goes there.
_WRITABLE = ("/dev/null",)


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


class Ruleset:
    """What may be read, ready to be put on."""

    def __init__(self, architecture: Architecture, readable: Iterable[str]) -> None:
        """Files and folders that may be read, whatever is below them included; those that do not exist are left out.

        Raises:
            OSError: the kernel has no Landlock, or it is switched off.
        """
        numbers = architecture.numbers
        self._restrict = numbers["landlock_restrict_self"]
        self._add = numbers["landlock_add_rule"]
        create = numbers["landlock_create_ruleset"]
        #: Version of the interface.
        self.version = syscall(create, None, 0, _VERSION_FLAG)
        self._files = (1 << _FILE_RIGHTS.get(self.version, 16)) - 1
        network = _BIND_AND_CONNECT_TCP if self.version >= 4 else 0
        scoped = _ABSTRACT_SOCKETS_AND_SIGNALS if self.version >= 6 else 0
        attributes = _Ruleset(self._files, network, scoped)
        size = 24 if scoped else 16 if network else 8
        #: Must stay open until `restrict_this_process`.
        self.descriptor = syscall(create, ctypes.byref(attributes), size, 0)
        for path in readable:
            self._allow(path, _READ_FILE | _READ_DIR)
        for path in _WRITABLE:
            self._allow(path, _READ_FILE | _WRITE_FILE | _TRUNCATE)

    def restrict_this_process(self) -> None:
        """Give up all other rights, for good. Needs no_new_privs, and a process of one thread.

        Raises:
            OSError: the kernel refused.
        """
        syscall(self._restrict, self.descriptor, 0)
        os.close(self.descriptor)

    def _allow(self, path: str, rights: int) -> None:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return
        try:
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                rights &= ~_READ_DIR
            rule = _Beneath(rights & self._files, descriptor)
            syscall(self._add, self.descriptor, _PATH_BENEATH, ctypes.byref(rule), 0)
        finally:
            os.close(descriptor)
