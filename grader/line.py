"""The line to one submission's worker: started when it is first needed, asked with deadlines, ended when it is lost.

The worker is untrusted. Every wait has a deadline kept on this side, with SIGKILL at its end; every byte is capped and
validated; no answer, or an odd one, is `Lost` with what to report instead. What is asked, and in which order, is the
business of `conversation`.
"""

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

import torch

from grader.exchange import Deadline, exchange
from grader.launch import Launcher, Worker
from grader.outcome import Died, Garbled, TimedOut, read_batch
from grader.worker import wire
from grader.worker.serve import MOST_PRINTED

#: Seconds of waiting for a processor that are given to one submission.
_MOST_GRANTED_S = 60.0
#: Characters kept of what is wrong with a reply: they may quote it.
_MOST_DETAIL = 300

Reply = TypeVar("Reply")
Read = Callable[[wire.Frame], Reply]
Answered = tuple[Reply, Mapping[str, torch.Tensor]]


class Lost(Exception):
    """The worker gave no answer and cannot be trusted to give another; carries what to report instead."""

    def __init__(self, failed: TimedOut | Died | Garbled) -> None:
        super().__init__(failed)
        self.failed = failed


class Line:
    """One worker at a time. Whoever catches `Lost` calls `end`."""

    def __init__(self, launcher: Launcher, start: bytes) -> None:
        """`start`: the frame that a worker is sent first."""
        self._launcher = launcher
        self._worker: Worker | None = None
        self._printed_last = ""
        self._exit_code: int | None = None
        self._waited_before_s = 0.0
        self._granted_s = 0.0
        #: The frame that the next worker is sent first.
        self.start = start
        #: How many workers have been started: what was loaded into an earlier one is gone.
        self.generation = 0
        #: Seconds spent waiting for answers.
        self.used_s = 0.0

    @property
    def is_open(self) -> bool:
        """Whether there is a worker."""
        return self._worker is not None

    def ask(self, frame: bytes, limit_s: float, stage: str, read: Read[Reply]) -> Answered[Reply]:
        """Send a request, and read its reply.

        Raises:
            Lost: it cannot be read, or there was none within the limit, in seconds.
            LaunchError: no worker could be started.
        """
        received = self._exchange(frame, limit_s, stage)
        try:
            return read(received), received.tensors
        except wire.ProtocolError as error:
            raise _garbled(stage, error) from None

    def ask_all(self, frame: bytes, count: int, limit_s: float, stage: str, read: Read[Reply]) -> list[Answered[Reply]]:
        """Send a batch of questions and read as many replies. Raises as `ask` does."""
        received = self._exchange(frame, limit_s, stage)
        try:
            return [(read(one), one.tensors) for one in read_batch(received, count)]
        except wire.ProtocolError as error:
            raise _garbled(stage, error) from None

    def printed(self) -> str:
        """What was printed since this was last asked, perhaps by a worker that has ended."""
        if self._worker:
            return _read_printed(self._worker.printed)
        printed, self._printed_last = self._printed_last, ""
        return printed

    def explained(self, failed: TimedOut | Died | Garbled) -> TimedOut | Died | Garbled:
        """How it failed, with how the worker ended, once it has."""
        return replace(failed, exit_code=self._exit_code) if isinstance(failed, Died) else failed

    def end(self) -> None:
        """Kill what cannot be trusted to answer again, keeping what it printed and how it ended."""
        if not self._worker:
            return
        worker, self._worker = self._worker, None
        self._printed_last = _read_printed(worker.printed)
        worker.kill()
        self._exit_code = worker.wait().exit_code

    def close(self, is_killed: bool = False) -> None:
        """Let the worker end, or kill it."""
        if not self._worker:
            return
        if is_killed:
            self._worker.kill()
        self._worker.wait()
        self._worker = None

    def _exchange(self, frame: bytes, limit_s: float, stage: str) -> wire.Frame:
        worker = self._worker or self._new_worker()
        deadline = Deadline(limit_s, self._waited_s)
        begin = time.monotonic()
        try:
            return exchange(worker.connection, frame, deadline)
        except TimeoutError:
            raise Lost(TimedOut(stage=stage, limit_s=limit_s)) from None
        except OSError:
            raise Lost(Died(stage=stage, exit_code=None)) from None
        except wire.ProtocolError as error:
            raise _garbled(stage, error) from None
        finally:
            self.used_s += time.monotonic() - begin - deadline.extended_s

    def _waited_s(self) -> float:
        """Seconds the worker has waited for a processor since this was last asked, as long as there is a measure in it.

        A machine on which others use all processors is not the student's doing; one's own threads may be.
        """
        if not self._worker or self._granted_s >= _MOST_GRANTED_S:
            return 0.0
        waited_s = self._worker.waited_s()
        more_s, self._waited_before_s = waited_s - self._waited_before_s, waited_s
        self._granted_s += more_s
        return more_s

    def _new_worker(self) -> Worker:
        self._worker = self._launcher.launch()
        self._waited_before_s = 0.0
        self.generation += 1
        with contextlib.suppress(OSError):  # it ended at once: the next exchange finds out and says so
            self._worker.connection.sendall(self.start)
        return self._worker


def _garbled(stage: str, error: wire.ProtocolError) -> Lost:
    return Lost(Garbled(stage=stage, detail=str(error)[:_MOST_DETAIL]))


def _read_printed(descriptor: int) -> str:
    try:
        return os.read(descriptor, MOST_PRINTED).decode(errors="replace")
    except BlockingIOError:
        return ""
