"""Starting and ending untrusted processes: the zygote, and workers forked from it.

Knows nothing of submissions or checks, and imports no torch, so that the zygote can be started before this process
spends seconds on that import itself. Where forking a warm torch is not safe (macOS), `SpawnLauncher` starts an
interpreter for each worker instead, more slowly.
"""

import contextlib
import fcntl
import importlib.util
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from grader.assignment import Rules
from grader.fault import Fault

_BOOT = Path(__file__).with_name("worker") / "boot.py"
#: Seconds to wait for a zygote to import torch, on the slowest machine we know of.
_START_S = 120.0
_NO_START = "the worker's interpreter ended while starting; run `python -c 'import torch'` to see why"
#: Seconds the zygote has to answer; it does nothing but fork.
_ANSWER_S = 30.0
#: Seconds all processes of the zygote have to end in; they are killed, not asked.
_END_S = 5.0
#: struct pidfd_info, and the request that fills it (linux/pidfd.h).
_PIDFD_INFO_BYTES, _PIDFD_GET_INFO = 64, 0xC040FF0B
#: One thread for every numeric library: a fork keeps only the thread that forks.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
#: All the worker's environment, besides what `_PASSED_ON` names. The hash seed is fixed, so that a student's sets are
#: in the same order in every run.
_ENVIRONMENT = ONE_THREAD | {
    "PYTHONHASHSEED": "0",
    "MALLOC_ARENA_MAX": "2",
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "TORCH_COMPILE_DISABLE": "1",  # it writes files and starts compilers; code that asks for it runs all the same
    "TORCHINDUCTOR_CACHE_DIR": "/",  # optimizers and torch.func make this folder when first used: it is there
}
#: What a worker imports; what these require may be read too.
_PACKAGES = ("torch", "numpy", "safetensors")
#: Nothing is forbidden.
NO_RULES = Rules()
#: Needed to find or to run the numeric libraries on some machines; nothing secret.
_PASSED_ON = ("LD_LIBRARY_PATH", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


class LaunchError(Fault):
    """A process of the grader's own could not be started, or has gone: never the student's fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a worker ended."""

    #: Exit code, or the negative number of the signal; None when it cannot be told.
    exit_code: int | None


class Worker(Protocol):
    """A running worker, seen from the trusted side."""

    connection: socket.socket
    #: Read end of what it prints; non-blocking.
    printed: int

    def kill(self) -> None:
        """End it at once, with SIGKILL."""

    def waited_s(self) -> float:
        """Seconds its main thread was ready to run and had no processor; 0 where that cannot be told."""

    def wait(self) -> Ending:
        """Wait for its end, and close its descriptors."""


class Launcher(Protocol):
    """Starts workers."""

    def launch(self) -> Worker:
        """A fresh worker.

        Raises:
            LaunchError: it could not be started.
        """


class _ForkedWorker:
    def __init__(self, launcher: "ForkLauncher", pid: int, pidfd: int, connection: socket.socket, printed: int) -> None:
        self._launcher, self._pid, self._pidfd = launcher, pid, pidfd
        self.connection, self.printed = connection, printed

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def waited_s(self) -> float:
        try:
            with open(f"/proc/{_number_of(self._pidfd)}/schedstat") as file:  # second field: nanoseconds on a run queue
                return int(file.read().split()[1]) / 1e9
        except (OSError, ValueError, StopIteration, IndexError):
            return 0.0

    def wait(self) -> Ending:
        self.connection.close()
        if not select.select([self._pidfd], [], [], 1.0)[0]:  # it ends at the end of its input, unless the student's
            self.kill()  # code holds it back
        os.close(self._pidfd)
        os.close(self.printed)
        return Ending(exit_code=self._launcher.ending_of(self._pid))


def _number_of(pidfd: int) -> int:
    """The number, among our processes, of one that has another in its own namespace. Raises OSError, StopIteration."""
    info = bytearray(_PIDFD_INFO_BYTES)
    try:
        fcntl.ioctl(pidfd, _PIDFD_GET_INFO, info)
    except OSError:  # older than Linux 6.13; a process that hides its memory may need to be root for this
        with open(f"/proc/self/fdinfo/{pidfd}") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("Pid:"))
    return int.from_bytes(info[16:20], sys.byteorder)


class ForkLauncher:
    """Workers forked from the zygote at the other end of a control socket."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control

    def launch(self) -> Worker:
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        try:
            socket.send_fds(self._control, [b"fork"], [theirs.fileno(), writing])
            message, descriptors = self._receive("started")
            if message["started"] is None:
                raise LaunchError(f"no worker could be started: {message['error']}")
        except BaseException as error:
            ours.close()
            os.close(reading)
            if isinstance(error, OSError):
                raise LaunchError(f"the zygote does not answer: {error}") from None
            raise
        finally:
            theirs.close()
            os.close(writing)
        return _ForkedWorker(self, message["started"], descriptors[0], ours, reading)

    def ending_of(self, pid: int) -> int | None:
        """Exit code of a worker that has ended, or is about to."""
        while True:
            message, _ = self._receive("ended")
            if message["ended"] == pid:
                return int(message["status"])

    def _receive(self, kind: str) -> tuple[dict[str, Any], list[int]]:
        """The next message of that kind; others belong to workers of an examiner that has gone."""
        deadline = time.monotonic() + _ANSWER_S
        while True:
            self._control.settimeout(max(deadline - time.monotonic(), 0.001))
            try:
                data, descriptors, _, _ = socket.recv_fds(self._control, 4096, 1)
            except OSError as error:
                raise LaunchError(f"the zygote does not answer: {error}") from None
            if not data:
                raise LaunchError("the zygote has ended")
            message = json.loads(data)
            if kind in message:
                return message, descriptors
            for descriptor in descriptors:
                os.close(descriptor)


class Zygote:
    """The warm untrusted process. A context manager: it and its workers end with the block."""

    def __init__(self, controls: int, rules: Rules = NO_RULES, in_namespaces: bool = True) -> None:
        """Start it with that many control sockets, one an examiner; `wait` for it before launching.

        `rules`: what its workers may not call, and what they may import; `in_namespaces`: in fresh ones, where the
        system allows.
        The sockets keep message boundaries, so a message and its descriptors cannot be torn apart.
        """
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(controls)]
        self.controls = [ours for ours, _ in pairs]
        theirs = [other.fileno() for _, other in pairs]
        #: What workers are kept in by, by layer, in words; known once it is warm.
        self.layers: dict[str, str] = {}
        self._process = _start("zygote", theirs, rules, controls=theirs, in_namespaces=in_namespaces)
        for _, other in pairs:
            other.close()

    @property
    def pid(self) -> int:
        """The process that was started; where there are namespaces, the warm one is its child."""
        return self._process.pid

    def wait(self) -> None:
        """Wait until it is warm; at once when it is.

        Raises:
            LaunchError: it ended first, or took longer than two minutes.
        """
        for control in () if self.layers else self.controls:
            control.settimeout(_START_S)
            try:
                answer = control.recv(4096)
            except TimeoutError:
                raise LaunchError(f"the worker's interpreter did not start within {_START_S:.0f} s") from None
            if not answer:
                raise LaunchError(_NO_START)
            self.layers = json.loads(answer)["layers"]

    def close(self) -> None:
        """End the zygote, and with it its workers."""
        for control in self.controls:
            control.close()
        self._process.terminate()  # not SIGKILL: where there are namespaces, who gets it waits until all have ended
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _SpawnedWorker:
    def __init__(self, process: "subprocess.Popen[bytes]", connection: socket.socket, printed: int) -> None:
        self._process, self.connection, self.printed = process, connection, printed

    def kill(self) -> None:
        self._process.kill()

    def waited_s(self) -> float:
        return 0.0

    def wait(self) -> Ending:
        self.connection.close()
        try:
            self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
        os.close(self.printed)
        return Ending(exit_code=self._process.wait())


class SpawnLauncher:
    """Workers that are interpreters of their own: slow (torch is imported each time) but needing no fork."""

    def __init__(self, rules: Rules = NO_RULES) -> None:
        """`rules`: what its workers may not call, and what they may import."""
        self._rules = rules

    def launch(self) -> Worker:
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        process = _start("serve", [theirs.fileno(), writing], self._rules, connection=theirs.fileno(), printed=writing)
        theirs.close()
        os.close(writing)
        worker = _SpawnedWorker(process, ours, reading)
        ours.settimeout(_START_S)
        try:
            is_ready = bool(ours.recv(1))
        except OSError:
            is_ready = False
        if not is_ready:
            worker.kill()
            worker.wait()
            raise LaunchError(_NO_START)
        return worker


def can_fork() -> bool:
    """Whether workers can be forked from a warm process here: on Linux, with descriptors for processes (5.3)."""
    return sys.platform == "linux" and hasattr(os, "pidfd_open")


def _start(module: str, descriptors: list[int], rules: Rules, **arguments: Any) -> "subprocess.Popen[bytes]":
    environment = _ENVIRONMENT | {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    packages = list(dict.fromkeys([*_PACKAGES, *rules.imports]))
    common = {"module": module, "path": _path(), "packages": packages, "parent": os.getpid()}
    common["forbidden"] = rules.forbidden
    argument = json.dumps(common | arguments)
    return subprocess.Popen(
        [sys.executable, "-S", "-s", "-P", str(_BOOT), argument],
        env=environment,
        cwd="/",
        pass_fds=descriptors,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )


def _path() -> list[str]:
    """Where the packages a worker needs are installed; found without importing them, which takes seconds."""
    folders = []
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise LaunchError(f"the package {name} is not installed for {sys.executable}")
        folders.append(str(Path(spec.origin).parents[1]))
    return list(dict.fromkeys(folders))
