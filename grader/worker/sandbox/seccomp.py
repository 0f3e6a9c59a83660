"""The filter of system calls a worker may make: a list of what torch and Python need, all else refused.

Compiled once, in the zygote; a worker fills in its own process number and loads it. Refused calls fail with EPERM, as
for a user without the right; what a C library tries first and can do without fails with ENOSYS. A call of another
architecture (32-bit, x32) ends the process.

Why no library: pyseccomp's last release is of 2021 and needs a system library besides; the part that matters, which
arguments are allowed, is as long there as here. Sources: seccomp(2), linux/filter.h, linux/seccomp.h.
"""

import ctypes
import errno
import struct
from collections.abc import Sequence
from typing import Literal, NamedTuple

from .kernel import PR_SET_SECCOMP, prctl
from .syscalls import Architecture

# linux/bpf_common.h, linux/filter.h
_LOAD_WORD, _JUMP_EQUAL, _JUMP_GREATER_OR_EQUAL, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
# linux/seccomp.h
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_MODE_FILTER = 2
#: Offsets in struct seccomp_data; an argument's low word comes first on both architectures known here.
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
#: Calls of the x32 interface carry this bit (asm/unistd.h).
_X32 = 0x40000000


class Where(NamedTuple):
    """A condition on one argument: its low word, masked, equals a value."""

    argument: int
    value: int | Literal["own process"]
    mask: int = 0xFFFFFFFF
    #: Whether the high word, which the kernel ignores in an `int`, must be 0 too: for pointers.
    is_long: bool = False


#: Alternatives, each a list of conditions that hold together. No alternative: whatever the arguments.
Rule = tuple[tuple[Where, ...], ...]

_ANY: Rule = ()
# CLONE_VM, SIGHAND, THREAD must be set; no namespace, vfork, ptrace, parent or pidfd flag may be (linux/sched.h)
_THREAD = 0x00010900
_NOT_THREAD = 0x7E02F080 & ~_THREAD | 0x00800000
_WRITING = 0o3 | 0o100 | 0o1000 | 0o20000  # O_ACCMODE, O_CREAT, O_TRUNC, O_ASYNC (asm-generic/fcntl.h)
# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC: none that sends signals (F_SETOWN, F_SETSIG)
_FCNTL = (0, 1, 2, 3, 4, 1030)
# TCGETS (isatty), TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: none that writes to a terminal (TIOCSTI)
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_GET_SECCOMP, PR_SET_VMA (glibc names its memory)
_PRCTL = (3, 15, 16, 21, 0x53564D41)

#: Calls that may have any arguments, the most frequent first: the filter reads the list from its top.
# fmt: off
_HARMLESS = (
    "read", "write", "futex", "recvfrom", "sendto", "mmap", "munmap", "madvise", "mprotect", "brk", "clock_gettime",
    "newfstatat", "fstat", "openat", "close", "lseek", "poll", "ppoll", "access", "alarm", "arch_prctl",
    "clock_getres", "clock_nanosleep", "dup", "dup2", "dup3", "exit", "exit_group", "faccessat", "faccessat2",
    "fadvise64", "getcpu", "getcwd", "getdents64", "getegid", "geteuid", "getgid", "getgroups", "getitimer",
    "getpeername", "getpgid", "getpgrp", "getpid", "getppid", "getrandom", "getresgid", "getresuid", "getrlimit",
    "getrusage", "getsid", "getsockname", "getsockopt", "gettid", "gettimeofday", "getuid", "lstat", "membarrier",
    "mremap", "nanosleep", "open", "pause", "pread64", "pselect6", "readlink", "readlinkat", "readv",
    "restart_syscall", "rseq", "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigreturn", "rt_sigsuspend",
    "rt_sigtimedwait", "sched_get_priority_max", "sched_get_priority_min", "sched_getaffinity", "sched_getparam",
    "sched_getscheduler", "sched_yield", "select", "set_robust_list", "set_tid_address", "setitimer", "setsockopt",
    "shutdown", "sigaltstack", "stat", "statx", "sysinfo", "time", "times", "uname", "writev",
)
# fmt: on
RULES: dict[str, Rule] = dict.fromkeys(_HARMLESS, _ANY) | {
    "clone": ((Where(0, _THREAD, _THREAD | _NOT_THREAD),),),
    "fcntl": tuple((Where(1, command),) for command in _FCNTL),
    "ioctl": tuple((Where(1, request),) for request in _IOCTL),
    "prctl": tuple((Where(0, option),) for option in _PRCTL),
    "kill": ((Where(0, "own process"),),),
    "tgkill": ((Where(0, "own process"),),),
    # reading its own limits only
    "prlimit64": ((Where(0, 0), Where(2, 0, is_long=True)),),
}
#: Where nothing else keeps files from being written: opening for reading only.
READING_ONLY: dict[str, Rule] = {
    "open": ((Where(1, 0, _WRITING),),),
    "openat": ((Where(2, 0, _WRITING),),),
}
#: Newer forms of allowed calls whose arguments lie in memory, where a filter cannot see them.
_UNKNOWN_TO_LIBRARIES = ("clone3", "openat2", "futex_waitv")

#: struct sock_filter: operation, two jumps, operand.
_INSTRUCTION = struct.Struct("=HBBI")
_Instruction = tuple[int, int, int, int]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


class Filter:
    """A compiled filter."""

    def __init__(self, architecture: Architecture, rules: dict[str, Rule]) -> None:
        code, self._own = _compile(architecture, rules)
        self._length = len(code)
        self._data = bytearray().join(_INSTRUCTION.pack(*instruction) for instruction in code)

    def __len__(self) -> int:
        return self._length

    def load(self, process: int) -> None:
        """Put this process, whose number is given, under the filter for good. Needs no_new_privs.

        Raises:
            OSError: the kernel has no filters.
        """
        for place in self._own:  # the operand is the last word of an instruction
            struct.pack_into("=I", self._data, (place + 1) * _INSTRUCTION.size - 4, process)
        program = _Program(self._length, bytes(self._data))
        prctl(PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program))


def _compile(architecture: Architecture, rules: dict[str, Rule]) -> tuple[list[_Instruction], list[int]]:
    """The instructions, and the places in them that hold the process's own number."""
    code: list[_Instruction] = [
        (_LOAD_WORD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, architecture.audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD_WORD, 0, 0, _NUMBER),
        (_JUMP_GREATER_OR_EQUAL, 0, 1, _X32),
        (_RETURN, 0, 0, _KILL),
        (_JUMP_GREATER_OR_EQUAL, 0, 1, architecture.newest + 1),
        (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
    ]
    own: list[int] = []
    for name, rule in rules.items():
        if name not in architecture.numbers:
            continue
        block, places = _block(rule)
        code.append((_JUMP_EQUAL, 0, len(block), architecture.numbers[name]))
        own.extend(len(code) + place for place in places)
        code.extend(block)
    for name in _UNKNOWN_TO_LIBRARIES:
        code += [(_JUMP_EQUAL, 0, 1, architecture.numbers[name]), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    code.append((_RETURN, 0, 0, _ERRNO | errno.EPERM))
    return code, own


def _block(rule: Rule) -> tuple[list[_Instruction], list[int]]:
    """Allow when one of the alternatives holds, refuse otherwise."""
    if not rule:
        return [(_RETURN, 0, 0, _ALLOW)], []
    code: list[_Instruction] = []
    own: list[int] = []
    for alternative in rule:
        block, places = _alternative(alternative)
        own.extend(len(code) + place for place in places)
        code.extend(block)
    return [*code, (_RETURN, 0, 0, _ERRNO | errno.EPERM)], own


def _alternative(conditions: Sequence[Where]) -> tuple[list[_Instruction], list[int]]:
    """Allow when all hold; else go on behind."""
    code: list[_Instruction] = []
    own: list[int] = []
    jumps: list[int] = []
    for condition in conditions:
        low = _ARGUMENTS + 8 * condition.argument
        code.append((_LOAD_WORD, 0, 0, low))
        if condition.mask != 0xFFFFFFFF:
            code.append((_AND, 0, 0, condition.mask))
        if condition.value == "own process":
            own.append(len(code))
        jumps.append(len(code))
        code.append((_JUMP_EQUAL, 0, 0, 0 if condition.value == "own process" else condition.value))
        if condition.is_long:
            code.append((_LOAD_WORD, 0, 0, low + 4))
            jumps.append(len(code))
            code.append((_JUMP_EQUAL, 0, 0, 0))
    code.append((_RETURN, 0, 0, _ALLOW))
    for place in jumps:
        operation, _, _, value = code[place]
        code[place] = (operation, 0, len(code) - place - 1, value)
    return code, own
