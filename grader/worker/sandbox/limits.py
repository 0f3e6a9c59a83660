"""Resource limits of a worker, and the signal that ends it with its parent. Set before student code runs."""

import os
import resource
import signal
from typing import NamedTuple

from .kernel import IS_LINUX, PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, prctl

_MIB = 1024 * 1024


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
    if not IS_LINUX:
        return
    end_with_parent()
    if os.getppid() != parent:
        os._exit(1)


def end_with_parent() -> None:
    """Ask the kernel for SIGKILL when the parent ends. The caller sees to it that it has not ended before."""
    prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))


def adopt_orphans() -> None:
    """Become the parent of whatever processes a worker leaves behind, so that they can be ended."""
    if IS_LINUX:
        prctl(PR_SET_CHILD_SUBREAPER, 1)


def apply(limits: Limits) -> None:
    """Set the limits of this process; they cannot be raised again."""
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_NOFILE, limits.files)
    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_s, limits.cpu_s + 1))
    if IS_LINUX:  # elsewhere the address space at start is not known, or not limited
        _lower(resource.RLIMIT_AS, _address_space() + limits.memory_mib * _MIB)


def limit_threads(most: int) -> None:
    """Allow this process's user so many processes and threads, where the kernel counts them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    known = [value for value in (soft, hard) if value != resource.RLIM_INFINITY]
    _lower(resource.RLIMIT_NPROC, min([most, *known]))


def close_all_but(*kept: int) -> None:
    """Close every descriptor above standard error but these."""
    start = 3
    for descriptor in sorted(kept):
        os.closerange(start, descriptor)
        start = descriptor + 1
    os.closerange(start, os.sysconf("SC_OPEN_MAX"))


def _lower(kind: int, value: int) -> None:
    resource.setrlimit(kind, (value, value))


def _address_space() -> int:
    """Bytes of address space in use now (first field of statm, in pages; proc(5))."""
    with open("/proc/self/statm", "rb") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()
