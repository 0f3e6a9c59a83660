"""Numbers of system calls, for the architectures they are known of. Never guessed: elsewhere there is no filter.

Sources: asm/unistd_64.h for x86_64, asm-generic/unistd.h for aarch64; a test compares both where the kernel's headers
are installed.
"""

import platform
from typing import NamedTuple


class Architecture(NamedTuple):
    """What a filter must know of one processor architecture."""

    #: AUDIT_ARCH_* of linux/audit.h.
    audit: int
    #: By name; a call that the architecture does not have is missing.
    numbers: dict[str, int]
    #: The newest call in the tables; what comes after it is unknown here.
    newest: int


# name: (x86_64, aarch64); None: the architecture has no such call
_TABLE: dict[str, tuple[int | None, int | None]] = {
    "access": (21, None),
    "add_key": (248, 217),
    "alarm": (37, None),
    "arch_prctl": (158, None),
    "bpf": (321, 280),
    "brk": (12, 214),
    "clock_getres": (229, 114),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "clone": (56, 220),
    "clone3": (435, 435),
    "close": (3, 57),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "fadvise64": (221, 223),
    "fcntl": (72, 25),
    "fstat": (5, 80),
    "futex": (202, 98),
    "futex_waitv": (449, 449),
    "getcpu": (309, 168),
    "getcwd": (79, 17),
    "getdents64": (217, 61),
    "getegid": (108, 177),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getgroups": (115, 158),
    "getitimer": (36, 102),
    "getpeername": (52, 205),
    "getpgid": (121, 155),
    "getpgrp": (111, None),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "getrandom": (318, 278),
    "getresgid": (120, 150),
    "getresuid": (118, 148),
    "getrlimit": (97, 163),
    "getrusage": (98, 165),
    "getsid": (124, 156),
    "getsockname": (51, 204),
    "getsockopt": (55, 209),
    "gettid": (186, 178),
    "gettimeofday": (96, 169),
    "getuid": (102, 174),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "kill": (62, 129),
    "landlock_add_rule": (445, 445),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
    "lseek": (8, 62),
    "lstat": (6, None),
    "madvise": (28, 233),
    "membarrier": (324, 283),
    "memfd_create": (319, 279),
    "mmap": (9, 222),
    "mount_setattr": (442, 442),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "munmap": (11, 215),
    "nanosleep": (35, 101),
    "newfstatat": (262, 79),
    "open": (2, None),
    "openat": (257, 56),
    "openat2": (437, 437),
    "pause": (34, None),
    "perf_event_open": (298, 241),
    "pidfd_open": (434, 434),
    "poll": (7, None),
    "ppoll": (271, 73),
    "prctl": (157, 167),
    "pread64": (17, 67),
    "prlimit64": (302, 261),
    "pselect6": (270, 72),
    "read": (0, 63),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "readv": (19, 65),
    "recvfrom": (45, 207),
    "restart_syscall": (219, 128),
    "rseq": (334, 293),
    "rt_sigaction": (13, 134),
    "rt_sigpending": (127, 136),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "rt_sigsuspend": (130, 133),
    "rt_sigtimedwait": (128, 137),
    "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126),
    "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "sched_yield": (24, 124),
    "select": (23, None),
    "sendto": (44, 206),
    "set_robust_list": (273, 99),
    "set_tid_address": (218, 96),
    "setitimer": (38, 103),
    "setsockopt": (54, 208),
    "shmget": (29, 194),
    "shutdown": (48, 210),
    "sigaltstack": (131, 132),
    "stat": (4, None),
    "statx": (332, 291),
    "sysinfo": (99, 179),
    "tgkill": (234, 131),
    "time": (201, None),
    "times": (100, 153),
    "uname": (63, 160),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "write": (1, 64),
    "writev": (20, 66),
}
#: cachestat, of Linux 6.5: the newest whose meaning is known here (that it is not needed).
_NEWEST = 451


def _architecture(audit: int, column: int) -> Architecture:
    known = {name: row[column] for name, row in _TABLE.items()}
    return Architecture(audit, {name: number for name, number in known.items() if number is not None}, _NEWEST)


ARCHITECTURES = {"x86_64": _architecture(0xC000003E, 0), "aarch64": _architecture(0xC00000B7, 1)}


def here() -> Architecture | None:
    """The architecture of this machine, or None where it is not known."""
    return ARCHITECTURES.get(platform.machine())
