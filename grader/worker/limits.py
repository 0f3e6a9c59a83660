"""Resource limits of a worker, and the signal that ends it with its parent. Set before student code runs."""

import ctypes
import os
import resource
import signal
import sys
from typing import NamedTuple

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_PR_SET_CHILD_SUBREAPER = 36
_MIB = 1024 * 1024
_LIBC = ctypes.CDLL(None, use_errno=True)  # opened before the fork, where it costs nothing


class Limits(NamedTuple):
    """What one worker may use."""

    #: Seconds of processor time; one more second and the kernel kills.
    cpu_s: int = 30
    #: MiB of address space beyond what the process has when it starts.
    memory_mib: int = 1024
    #: Open descriptors.
    files: int = 64


def die_with_parent(parent: int) -> None:
    """Ask the kernel for SIGKILL when the parent ends; leave at once if it has ended already."""
    if sys.platform != "linux":
        return
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of whatever processes a worker leaves behind, so that they can be ended."""
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def apply(limits: Limits) -> None:
    """Set the limits of this process; they cannot be raised again."""
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_NOFILE, limits.files)
    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_s, limits.cpu_s + 1))
    if sys.platform == "linux":  # elsewhere the address space at start is not known, or not limited
        _lower(resource.RLIMIT_AS, _address_space() + limits.memory_mib * _MIB)


def _lower(kind: int, value: int) -> None:
    resource.setrlimit(kind, (value, value))


def _address_space() -> int:
    """Bytes of address space in use now (first field of statm, in pages; proc(5))."""
    with open("/proc/self/statm", "rb") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()
