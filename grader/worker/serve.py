"""The life of one worker, from the fork to `_exit`: read a request, answer it, until the other end closes.

What student code prints goes to a pipe that the trusted side reads between calls. The pipe is non-blocking and
holds 64 KiB: what does not fit is counted and dropped, so printing a gigabyte costs the student nothing and the
grader nothing.
"""

import io
import os
import socket
import sys
import traceback
from typing import Any

from . import trace, wire
from .answer import Answerer
from .batch import Batches
from .load import Submission
from .rules.guards import GuardedAnswerer, Guards
from .rules.scan import scan
from .sandbox import limits, probe
from .sandbox.layers import Sandbox
from .warm import warm

#: Exit code of a worker that failed outside a call (EX_SOFTWARE of sysexits.h).
BROKEN = 70
#: Bytes kept of what one call prints.
MOST_PRINTED = 64 * 1024
#: What a worker with an interpreter of its own sends first, once it has imported torch.
READY = b"\0"


class _Printed(io.TextIOBase):
    """`sys.stdout` of a worker: writes what the pipe still takes, counts the rest."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._room = MOST_PRINTED
        self.dropped = 0

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, text: str) -> int:
        kept = text[: self._room]
        data = kept.encode(errors="replace")
        written = self._write(data[: self._room]) if data else 0
        self._room -= written
        self.dropped += len(data) - written + len(text) - len(kept)
        return len(text)

    def start_call(self) -> None:
        self._room, self.dropped = MOST_PRINTED, 0

    def _write(self, data: bytes) -> int:
        try:
            return os.write(self._descriptor, data)
        except OSError:  # the pipe is full, or the student closed it
            return 0


def run(connection: socket.socket, printed: int, sandbox: Sandbox, guards: Guards) -> None:
    """Put the sandbox on and answer requests until the connection ends. `guards` are in place. Never returns."""
    out = _Printed(printed)
    os.set_blocking(printed, False)
    _replace_streams(printed, out)
    try:
        _serve(connection, out, sandbox, guards)
    except BaseException:  # student code is answered for in `answer`; what arrives here broke the worker itself
        traceback.print_exc()
    finally:
        os._exit(BROKEN)


def _replace_streams(printed: int, out: _Printed) -> None:
    """Nothing to read, and C code that prints reaches the same pipe as Python code."""
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - stays open as long as the process
    sys.stdout = sys.stderr = out


def _serve(connection: socket.socket, out: _Printed, sandbox: Sandbox, guards: Guards) -> None:
    start = _receive(connection).header
    limits.apply(limits.Limits(**start["limits"]))
    sandbox.enter(start["layers"])
    if "probe" in start:
        connection.sendall(wire.encode(probe.run(probe.Targets(**start["probe"])), {}))
        return
    passed_over = start["asked"] if start["passes_over_failures"] else ()
    submission = Submission(start["sources"], start["stubs"], start["imports"], start["refused"], passed_over)
    answerer = GuardedAnswerer(submission.module, submission.is_own, guards)
    batches = Batches(answerer)
    while True:
        request = _receive(connection)
        out.start_call()
        if request.header["op"] == "scan":
            texts = {file: start["sources"][file] for file in request.header["files"]}
            names = start["forbidden"], start["flagged"], start["asked"]
            reply = wire.Frame(scan(texts, submission.imports, *names), {})
        else:
            submission.install()
            reply = _answer(answerer, batches, request)
        reply.header["dropped"] = out.dropped
        if reply.header.get("stage") == "import" and submission.failed:
            reply.header["failed"] = submission.failed
        connection.sendall(wire.encode(*reply))


def _answer(answerer: Answerer, batches: Batches, request: wire.Frame) -> wire.Frame:
    operation = request.header["op"]
    if operation == "batch":
        return batches.calls(request)
    if operation == "batch_gradient":
        return batches.gradients(request)
    if operation == "call":
        return answerer.call(request)
    if operation == "gradient":
        return answerer.gradient(request)
    if operation == "trace":
        return trace.record(answerer, request)
    return wire.Frame(answerer.load(request.header["part"]), {})


def _receive(connection: socket.socket) -> wire.Frame:
    header_length, blob_length = wire.PREFIX.unpack(_exactly(connection, wire.PREFIX.size))
    halves = _exactly(connection, header_length + blob_length)
    return wire.decode(halves[:header_length], halves[header_length:], wire.UNCAPPED)


def _exactly(connection: socket.socket, length: int) -> bytes:
    """That many bytes; a connection that ends first ends the worker."""
    parts = bytearray()
    while len(parts) < length:
        received = connection.recv(min(length - len(parts), 1 << 20))
        if not received:
            os._exit(0)
        parts += received
    return bytes(parts)


def main(arguments: dict[str, Any]) -> None:
    """One worker in a process of its own, where forking a warm one is not safe. Says when it is warm."""
    connection = socket.socket(fileno=arguments["connection"])
    sandbox = Sandbox(arguments["readable"], arguments["user"], parent=arguments["parent"])
    guards = Guards(arguments["forbidden"])
    guards.install()
    warm()
    connection.sendall(READY)
    run(connection, arguments["printed"], sandbox, guards)
