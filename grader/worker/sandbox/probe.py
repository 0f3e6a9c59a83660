"""What a worker can do that it should not, found by trying: the only evidence of how well it is kept in.

Runs in a worker of its own, with the same sandbox as any, before there is student code. An attempt is `reached` when
it was not refused; calls that would do harm are made with arguments that cannot succeed, and are refused only when the
answer is that of a sandbox rather than of the call itself.
"""

import contextlib
import ctypes
import errno
import fcntl
import functools
import mmap
import os
import resource
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .kernel import IS_LINUX, LIBC
from .syscalls import here


class Targets(NamedTuple):
    """What is tried on: all of it belongs to the trusted side, and none of it holds anything."""

    #: A folder with a file `secret` in it.
    folder: str
    #: The process that grades.
    grader: int
    #: Ports it listens on.
    tcp_port: int
    udp_port: int
    #: A socket in the folder, and one in the abstract name space.
    socket_path: str
    abstract_name: str
    #: A file of the standard library that no process has loaded, which must be readable.
    needed: str


#: How a sandbox refuses. From ESRCH on: what is tried on does not exist in the worker's namespaces.
_REFUSALS = {
    errno.EPERM,
    errno.EACCES,
    errno.ENOSYS,
    errno.ESRCH,
    errno.ENOENT,
    errno.ENETUNREACH,
    errno.ECONNREFUSED,
    errno.ENOMEM,  # the limits themselves
    errno.EMFILE,
    errno.EFBIG,
}
#: Far beyond a worker's limits.
_MOST_MEMORY, _MOST_FILES = 1 << 40, 4096


class _Range(ctypes.Structure):
    """struct iovec."""

    _fields_ = (("start", ctypes.c_void_p), ("length", ctypes.c_size_t))


Attempt = Callable[[Targets], object]


def run(targets: Targets) -> dict[str, Any]:
    """Try everything. Returns, by attempt, whether it was reached and what the system said."""
    return {
        "attempts": {name: _try(attempt, targets) for name, attempt in _ATTEMPTS.items()},
        "needs": {name: _try(need, targets) for name, need in _NEEDS.items()},
    }


def _try(attempt: Attempt, targets: Targets) -> dict[str, Any]:
    try:
        attempt(targets)
    except OSError as error:
        number = error.errno or 0
        return {"reached": number not in _REFUSALS, "said": errno.errorcode.get(number, str(error))[:100]}
    except Exception as error:  # RuntimeError from threading, ValueError from resource: refused, in other words
        return {"reached": False, "said": type(error).__name__}
    return {"reached": True, "said": "done"}


# --- files -----------------------------------------------------------------------------------------------------


def _secret(targets: Targets) -> str:
    return os.path.join(targets.folder, "secret")


def _read_file(targets: Targets) -> None:
    with open(_secret(targets), "rb") as file:
        file.read()


def _write_file(targets: Targets) -> None:
    with open(os.path.join(targets.folder, "written"), "wb"):
        pass


def _overwrite_file(targets: Targets) -> None:
    os.close(os.open(_secret(targets), os.O_WRONLY))


# --- the grader's process --------------------------------------------------------------------------------------


def _read_memory(targets: Targets) -> None:
    with open(f"/proc/{targets.grader}/mem", "rb"):
        pass


def _read_environment(targets: Targets) -> None:
    with open(f"/proc/{targets.grader}/environ", "rb") as file:
        file.read(1)


def _copy_memory(targets: Targets) -> None:
    one_byte = _Range(ctypes.cast(ctypes.create_string_buffer(1), ctypes.c_void_p), 1)
    # the same address there: nothing may lie at it, which is EFAULT, and not a refusal
    _call("process_vm_readv", targets.grader, ctypes.byref(one_byte), 1, ctypes.byref(one_byte), 1, 0)


def _trace(targets: Targets) -> None:
    _call("ptrace", 0x4206, targets.grader, 0, 0)  # PTRACE_SEIZE: does not stop it


def _limit(targets: Targets) -> None:
    current = resource.prlimit(targets.grader, resource.RLIMIT_NOFILE)
    resource.prlimit(targets.grader, resource.RLIMIT_NOFILE, current)


def _signal_by_descriptor(targets: Targets) -> None:
    """F_SETOWN: have the kernel send the signal, when a socket becomes readable."""
    ours, theirs = os.pipe()
    try:
        fcntl.fcntl(ours, fcntl.F_SETOWN, targets.grader)
    finally:
        os.close(ours)
        os.close(theirs)


def _connect(family: int, kind: int, address: Any) -> None:
    with socket.socket(family, kind) as one:
        one.settimeout(1.0)
        one.connect(address)
        one.send(b"reached")


def _call(name: str, *arguments: Any) -> None:
    """A function of the C library, called whatever the library thinks of it."""
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    if getattr(LIBC, name)(*words) == -1:
        number = ctypes.get_errno()
        raise OSError(number, name)


def _syscall(number: int, targets: Targets) -> None:
    """A system call by number, made so that it must fail: refused, or with a complaint about its arguments."""
    _call("syscall", number, -1, -1, -1, -1, -1)


def _fork(targets: Targets) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _execute(targets: Targets) -> None:
    try:
        os.execve("/nowhere/at/all", ["nothing"], {})
    except FileNotFoundError:  # it looked: programs may be started
        return


def _take_memory(targets: Targets) -> None:
    mmap.mmap(-1, _MOST_MEMORY).close()


def _open_files(targets: Targets) -> None:
    opened: list[int] = []
    try:
        for _ in range(_MOST_FILES):
            opened.append(os.dup(0))
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _raise_own_limits(targets: Targets) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE))


def _outlive_parent(targets: Targets) -> None:
    _call("prctl", 1, 0, 0, 0, 0)


def _new_namespace(targets: Targets) -> None:
    _call("unshare", 0x10000000)


def _other_calls() -> Iterator[tuple[str, Attempt]]:
    """Calls that only a filter refuses, each with arguments that it cannot like."""
    architecture = here()
    if IS_LINUX and architecture is not None:
        for name in _FILTERED:
            yield name, functools.partial(_syscall, architecture.numbers[name])


_FILTERED = (
    "shmget",
    "add_key",
    "perf_event_open",
    "bpf",
    "userfaultfd",
    "io_uring_setup",
    "memfd_create",
    "pidfd_open",
)

_ATTEMPTS: dict[str, Attempt] = {
    "read a file": _read_file,
    "list a folder": lambda targets: os.listdir(targets.folder),
    "write a file": _write_file,
    "overwrite a file": _overwrite_file,
    "truncate a file": lambda targets: os.truncate(_secret(targets), 0),
    "change a file's mode": lambda targets: os.chmod(_secret(targets), 0o600),
    "change a file's time": lambda targets: os.utime(_secret(targets), (0, 0)),
    "rename a file": lambda targets: os.rename(_secret(targets), _secret(targets) + "_moved"),
    "make a link": lambda targets: os.symlink("/", os.path.join(targets.folder, "link")),
    "make a folder": lambda targets: os.mkdir(os.path.join(targets.folder, "made")),
    "see that a file exists": lambda targets: os.stat(_secret(targets)),
    "signal the grader": lambda targets: os.kill(targets.grader, 0),
    "signal the grader by a descriptor": _signal_by_descriptor,
    "read the grader's memory": _read_memory,
    "copy the grader's memory": _copy_memory,
    "read the grader's environment": _read_environment,
    "trace the grader": _trace,
    "limit the grader": _limit,
    "slow the grader": lambda targets: os.setpriority(os.PRIO_PROCESS, targets.grader, 0),
    "bind the grader to a processor": lambda targets: os.sched_setaffinity(
        targets.grader, os.sched_getaffinity(targets.grader)
    ),
    "signal the zygote": lambda targets: os.kill(os.getppid(), 0),
    "connect over TCP": lambda targets: _connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", targets.tcp_port)),
    "send over UDP": lambda targets: _connect(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", targets.udp_port)),
    "connect to a socket in a folder": lambda targets: _connect(
        socket.AF_UNIX, socket.SOCK_STREAM, targets.socket_path
    ),
    "connect to an abstract socket": lambda targets: _connect(
        socket.AF_UNIX, socket.SOCK_STREAM, "\0" + targets.abstract_name
    ),
    "start a process": _fork,
    "start a program": _execute,
    "take a terabyte of memory": _take_memory,
    "open thousands of files": _open_files,
    "set limits": _raise_own_limits,
    "outlive the grader": _outlive_parent,
    **dict(_other_calls()),
    "enter a user namespace": _new_namespace,  # last: it changes what the others would find
}


# --- what honest code needs ------------------------------------------------------------------------------------


def _thread(targets: Targets) -> None:
    done: list[int] = []
    thread = threading.Thread(target=lambda: done.append(1))
    thread.start()
    thread.join()
    if not done:
        raise RuntimeError("the thread did not run")


def _library_file(targets: Targets) -> None:
    with open(targets.needed, "rb") as file:
        file.read(1)


def _own_signal(targets: Targets) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(os.getpid(), signal.SIGCONT)


_NEEDS: dict[str, Attempt] = {
    "start a thread": _thread,
    "read the standard library": _library_file,
    "signal itself": _own_signal,
}
