"""The warm process workers are forked from: torch is imported, nothing of the grader is known.

It listens on control sockets (one an examiner), forks a worker for each descriptor pair it is sent, and says how
each worker ended. It never runs student code, never runs backward, and keeps one thread: a fork copies only the
thread that forks (torch's OpenMP pool would be lost, and the child's first parallel operation would hang).
"""

import contextlib
import json
import os
import selectors
import signal
import socket
import threading
from typing import Any

import torch

from . import serve
from .pages import use_large_pages
from .rules.guards import Guards
from .sandbox import limits
from .sandbox.layers import Sandbox
from .warm import warm


class Zygote:
    """Forks workers and reports their ends."""

    def __init__(self, controls: list[socket.socket], sandbox: Sandbox, guards: Guards) -> None:
        self._controls = controls
        self._sandbox = sandbox
        self._guards = guards
        self._owners: dict[int, socket.socket] = {}
        self._selector = selectors.DefaultSelector()

    def run(self) -> None:
        """Serve until every control socket has closed."""
        wake = _wake_on_child_exit()
        self._selector.register(wake, selectors.EVENT_READ)
        for control in self._controls:
            self._selector.register(control, selectors.EVENT_READ)
        while self._controls:
            for key, _ in self._selector.select():
                if key.fileobj is wake:
                    wake.recv(4096)
                    self._reap()
                else:
                    self._serve(key.fileobj)  # type: ignore[arg-type]

    def _serve(self, control: socket.socket) -> None:
        try:
            message, descriptors, _, _ = socket.recv_fds(control, 4096, 2)
        except ConnectionResetError:  # closed with something of ours unread: the end, like any other
            message, descriptors = b"", []
        if not message:
            self._selector.unregister(control)
            self._controls.remove(control)
            control.close()
            return
        connection, printed = descriptors
        try:
            pid = self._fork(connection, printed)
        except OSError as error:  # no process numbers or no memory left: one worker less, and no reason to end
            self._tell(control, {"started": None, "error": str(error)}, [])
            return
        finally:
            os.close(connection)
            os.close(printed)
        self._owners[pid] = control
        self._tell(control, {"started": pid}, [os.pidfd_open(pid)])

    def _fork(self, connection: int, printed: int) -> int:
        if threading.active_count() != 1:
            raise RuntimeError(f"{threading.active_count()} threads in the zygote; a fork is only safe with one")
        parent = os.getpid()
        pid = os.fork()
        if pid:
            return pid
        try:
            limits.die_with_parent(parent)
            os.setsid()  # where the kernel shares processor time out among sessions: to a worker, not to its threads
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            limits.close_all_but(connection, printed, *self._sandbox.descriptors)
            serve.run(socket.socket(fileno=connection), printed, self._sandbox, self._guards)
        finally:
            os._exit(serve.BROKEN)

    def _reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                self._end_orphans()
                return
            if pid not in self._owners:
                continue
            self._tell(
                self._owners.pop(pid),
                {
                    "ended": pid,
                    "status": os.waitstatus_to_exitcode(status),
                    "cpu_s": usage.ru_utime + usage.ru_stime,
                    "memory_kib": usage.ru_maxrss,
                },
                [],
            )

    def _end_orphans(self) -> None:
        """Kill what workers that have ended left running. What those left shows at the next call."""
        try:
            with open(f"/proc/self/task/{os.getpid()}/children") as file:
                children = [int(pid) for pid in file.read().split()]
        except FileNotFoundError:  # a kernel built without CONFIG_PROC_CHILDREN
            return
        for pid in children:
            if pid not in self._owners:
                os.kill(pid, signal.SIGKILL)

    def _tell(self, control: socket.socket, message: dict[str, Any], descriptors: list[int]) -> None:
        with contextlib.suppress(OSError):  # that examiner has gone; its workers end with their connections
            socket.send_fds(control, [json.dumps(message).encode()], descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _wake_on_child_exit() -> socket.socket:
    """A socket that becomes readable when a child ends."""
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    signal.set_wakeup_fd(writing.detach(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading


def main(arguments: dict[str, Any]) -> None:
    """Warm up, say so and what workers are kept in by on every control socket, serve."""
    limits.adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    controls = [socket.socket(fileno=descriptor) for descriptor in arguments["controls"]]
    sandbox = Sandbox(arguments["readable"], arguments["user"])
    guards = Guards(arguments["forbidden"])
    guards.install()
    warm()
    use_large_pages()
    layers = sandbox.described | {"namespaces": " ".join(arguments.get("namespaces", []))}
    for control in controls:
        control.sendall(json.dumps({"ready": torch.__version__, "layers": layers}).encode())
    Zygote(controls, sandbox, guards).run()
