"""Calls to the Linux kernel that Python has no function for. Opened before the first fork, where it costs nothing."""

import ctypes
import os
import sys
from collections.abc import Callable
from typing import Any

#: The C library of this process; errno is kept for `check`.
LIBC = ctypes.CDLL(None, use_errno=True)
IS_LINUX = sys.platform == "linux"

# linux/prctl.h
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38


def check(result: int, what: str) -> int:
    """The result of a C function that returns -1 for failure.

    Raises:
        OSError: it failed; the text names the function.
    """
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def prctl(option: int, *arguments: Any) -> None:
    """prctl(2); integers are handed over as whole registers, what is left out as 0. Raises OSError."""
    words = [ctypes.c_ulong(one) if isinstance(one, int) else one for one in (*arguments, 0, 0, 0, 0)[:4]]
    check(LIBC.prctl(option, *words), f"prctl({option})")


def syscall(number: int, *arguments: Any) -> int:
    """syscall(2); every integer is handed over as a whole register. Raises OSError."""
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return check(LIBC.syscall(ctypes.c_long(number), *words), f"system call {number}")


def succeeds_in_child(deed: Callable[[], object]) -> bool:
    """Whether something that cannot be undone works here, found by doing it in a process that ends afterwards."""
    child = os.fork()
    if child == 0:
        try:
            deed()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0
