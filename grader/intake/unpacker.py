"""The process in which an archive or a notebook is taken apart: fed, listened to, ended. Understands neither.

It runs a program of `grader.worker` (`unpack`, `notebook.program`) and is as untrusted as a worker is: bytes go in,
bytes come out, up to a limit and until a deadline, and then it is killed.
"""

import enum
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import IO, Any

from grader.intake.process import READY, start_process
from grader.intake.tree import IntakeError

#: Seconds of its processor time, and MiB of its memory: ordinary homework takes a tenth of a second and 20 MiB.
_CPU_S, _MEMORY_MIB = 5, 384
#: Seconds from its start to its last byte; many times what its processor time allows, for a machine that is busy.
_DEADLINE_S = 30.0
_CHUNK = 64 * 1024


class Ended(enum.Enum):
    """Why there is no answer, when what was handed in is to blame."""

    #: It took too long, on the clock or on the processor.
    TOO_SLOW = enum.auto()
    #: It sent more than it may, or ended in a way it never should.
    ASTRAY = enum.auto()


def run_unpacker(data: bytes, settings: Mapping[str, Any], most: int, program: str = "unpack") -> bytes | Ended:
    """Its answer about an archive or a notebook, of `most` bytes at most, or how it ended without one.

    `program`: a module of `grader.worker`; `settings` are its own.

    Raises:
        IntakeError: it could not be started, or ended before it looked at what it was given.
    """
    try:
        process = start_process(program, settings, subprocess.PIPE, cpu_s=_CPU_S, memory_mib=_MEMORY_MIB)
    except OSError as error:
        raise IntakeError(f"no process to take a submission apart could be started: {error.strerror}") from None
    assert process.stdin is not None and process.stdout is not None
    try:
        received, is_overdue = _exchange(process.stdin, process.stdout, data, len(READY) + most)
    finally:
        process.kill()
        exit_code = process.wait()
        process.stdin.close()
        process.stdout.close()
    if not received.startswith(READY):
        raise IntakeError(
            "the process that takes submissions apart did not start; run "
            f"`{sys.executable} -c 'import ast, json, zipfile'` to see why"
        )
    if is_overdue or exit_code == -signal.SIGXCPU:
        return Ended.TOO_SLOW
    answer = received[len(READY) :]
    return answer if 0 < len(answer) <= most else Ended.ASTRAY


def _exchange(into: IO[bytes], out: IO[bytes], data: bytes, most: int) -> tuple[bytes, bool]:
    """Write what it reads while reading what it writes, until it ends, sends too much, or time is up."""
    deadline = time.monotonic() + _DEADLINE_S
    os.set_blocking(into.fileno(), False)
    unsent = memoryview(data)
    received = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(into, selectors.EVENT_WRITE)
        selector.register(out, selectors.EVENT_READ)
        while len(received) <= most:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return bytes(received), True
            for key, _ in selector.select(left_s):
                if key.fileobj is into:
                    unsent = _send(into, unsent)
                    if not unsent:
                        selector.unregister(into)
                        into.close()
                else:
                    some = os.read(out.fileno(), _CHUNK)
                    if not some:
                        return bytes(received), False
                    received += some
    return bytes(received), False


def _send(into: IO[bytes], unsent: memoryview) -> memoryview:
    try:
        return unsent[os.write(into.fileno(), unsent[:_CHUNK]) :]
    except BlockingIOError:
        return unsent
    except BrokenPipeError:  # it ended without reading all: what it sent says why
        return unsent[:0]
