"""Examiners: warm trusted processes that grade one submission after another, several at a time.

They are forked from the process that rehearsed the checks, so that everything a session needs is loaded and every
expected answer is known. What crosses between them is a number one way and a report entry the other way.
When an examiner or the zygote fails, or an examiner hangs, what was in flight is graded again, one submission at a
time; one that fails alone too is reported as a fault of the grader.
"""

import contextlib
import os
import selectors
import signal
import socket
import struct
import time
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader import interrupt
from grader.assignment import Limits
from grader.examine import ExamineError
from grader.find import Found
from grader.grade import Grading
from grader.intake import IntakeError
from grader.launch import ForkLauncher, LaunchError, SpawnLauncher, Zygote
from grader.oracle import OracleError
from grader.report import Status, Submission
from grader.report_json import submission_from_json, to_json
from grader.score import unscored
from grader.worker.sandbox.limits import close_all_but, die_with_parent

#: Submissions after which an examiner is replaced, so that what a session leaves behind cannot pile up.
SUBMISSIONS_EACH = 50
_NUMBER = struct.Struct("<i")
_LENGTH = struct.Struct("<I")
_FAULTS = (LaunchError, ExamineError, OracleError, IntakeError)


def examiner_limit_s(limits: Limits, call_s: float | None = None, explaining_s: float = 0.0) -> float:
    """Seconds after which an examiner has not finished a submission because it hangs.

    The student's code alone can take twice `submission_s` (imports anew are counted apart) and what an attempt with
    batches and the last call run over: an import, and a call forward and backward. What it is asked besides the checks
    is part of that, but not what the grader computes by itself to explain, in `explaining_s` at most. Times five, and
    five seconds more, for a machine that is busy, and for what the checks do themselves.
    """
    return 5.0 + 5.0 * (limits.submission_s + limits.import_s + (call_s or limits.call_s) + explaining_s)


@dataclass(slots=True)
class _Examiner:
    """A forked examiner, and which submission it is busy with."""

    pid: int
    connection: socket.socket
    slot: int
    busy_with: int = -1
    #: When it must have finished that, by the monotonic clock.
    deadline: float = 0.0
    graded: int = 0


def grade_all(grading: Grading, found: Sequence[Found], zygote: Zygote | None) -> Iterator[Submission]:
    """Grade submissions, as many at a time as the zygote has control sockets; entries come as they are finished.

    Without a zygote, where a warm torch cannot be forked, one after another. A zygote that fails is replaced.

    Raises:
        LaunchError: the zygote could not be started.
    """
    if zygote is None:
        yield from _one_by_one(grading, found)
        return
    pool = _Pool(grading, found, zygote)
    try:
        yield from pool.run()
    finally:
        pool.close()


def _one_by_one(grading: Grading, found: Sequence[Found]) -> Iterator[Submission]:
    """Where a warm torch cannot be forked: in this process, each submission in interpreters of its own."""
    launcher = SpawnLauncher(grading.assignment.rules)
    for one in found:
        try:
            yield grading.submission(one, launcher)
        except _FAULTS as fault:
            yield unscored(grading.assignment, one.id, Status.GRADER_ERROR, str(fault))


class _Pool:
    def __init__(self, grading: Grading, found: Sequence[Found], zygote: Zygote) -> None:
        self._grading = grading
        self._found = found
        self._waiting = deque(range(len(found)))
        #: In flight when something failed: graded again alone, to learn whose doing it was.
        self._suspects: deque[int] = deque()
        self._alone = -1
        self._selector = selectors.DefaultSelector()
        self._limit_s = examiner_limit_s(
            grading.assignment.limits,
            grading.call_s,
            grading.diagnostics.longest_s if grading.diagnostics else 0.0,
        )
        self._zygote = zygote
        self._zygote.wait()
        self._examiners = [self._fork(slot) for slot in range(len(zygote.controls))]

    def run(self) -> Iterator[Submission]:
        self._hand_out()
        while busy := [examiner for examiner in self._examiners if examiner.busy_with >= 0]:
            first = min(busy, key=lambda examiner: examiner.deadline)
            ready = self._selector.select(max(first.deadline - time.monotonic(), 0.0))
            if not ready:
                yield from self._restart(first)
                self._hand_out()
            for key, _ in ready:
                examiner: _Examiner = key.data
                entry = self._receive(examiner)
                if entry is None:
                    yield from self._restart(examiner)
                    self._hand_out()
                    break  # the other events are of examiners that have been replaced
                examiner.busy_with = self._alone = -1
                if examiner.graded >= SUBMISSIONS_EACH:
                    self._replace(examiner)
                self._hand_out()
                yield entry

    def close(self) -> None:
        """End all processes."""
        for examiner in self._examiners:
            self._end(examiner)
        self._zygote.close()
        self._selector.close()

    # --- examiners --------------------------------------------------------------------------------------------

    def _fork(self, slot: int) -> _Examiner:
        ours, theirs = socket.socketpair()
        parent = os.getpid()
        pid = interrupt.fork()
        if pid == 0:
            try:
                die_with_parent(parent)
                control = self._zygote.controls[slot]
                # What it inherits is not its own: a sibling's connections, which must end with that one; the lock.
                close_all_but(theirs.fileno(), control.fileno())
                _serve(self._grading, self._found, ForkLauncher(control), theirs)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        theirs.close()
        examiner = _Examiner(pid=pid, connection=ours, slot=slot)
        self._selector.register(ours, selectors.EVENT_READ, examiner)
        return examiner

    def _end(self, examiner: _Examiner) -> None:
        self._selector.unregister(examiner.connection)
        os.kill(examiner.pid, signal.SIGKILL)  # it is our child and not yet reaped, so the number is still its own
        os.waitpid(examiner.pid, 0)
        examiner.connection.close()  # only now: it would complain of an answer that nobody takes

    def _replace(self, examiner: _Examiner) -> None:
        self._end(examiner)
        self._examiners[self._examiners.index(examiner)] = self._fork(examiner.slot)

    def _hand_out(self) -> None:
        """Give every idle examiner a submission; or one a suspect, once all are idle."""
        idle = [examiner for examiner in self._examiners if examiner.busy_with < 0]
        if self._suspects:
            if len(idle) == len(self._examiners):
                self._alone = self._suspects.popleft()
                self._give(idle[0], self._alone)
            return
        for examiner in idle:
            if self._waiting and self._alone < 0:
                self._give(examiner, self._waiting.popleft())

    def _give(self, examiner: _Examiner, number: int) -> None:
        examiner.busy_with = number
        examiner.deadline = time.monotonic() + self._limit_s
        with contextlib.suppress(OSError):  # it has ended: the next `select` tells
            examiner.connection.sendall(_NUMBER.pack(number))

    def _receive(self, examiner: _Examiner) -> Submission | None:
        """The entry an examiner has finished, or None when it failed or has ended."""
        examiner.connection.settimeout(max(examiner.deadline - time.monotonic(), 0.001))  # it may hang halfway through
        try:
            (length,) = _LENGTH.unpack(_exactly(examiner.connection, _LENGTH.size))
            text = _exactly(examiner.connection, length)
        except (EOFError, OSError):
            return None
        examiner.graded += 1
        return submission_from_json(text, "an examiner") if text else None

    # --- faults -----------------------------------------------------------------------------------------------

    def _restart(self, failed: _Examiner) -> Iterator[Submission]:
        """New zygote, new examiners, after one failed or hung. What was in flight is suspect; if alone, given up."""
        alone, self._alone = self._alone, -1
        in_flight = [examiner.busy_with for examiner in self._examiners if examiner.busy_with >= 0]
        for examiner in self._examiners:
            self._end(examiner)
        self._examiners = []
        self._zygote.close()
        layers = self._zygote.layers
        self._zygote = Zygote(len(self._zygote.controls), self._grading.assignment.rules)
        self._zygote.wait()
        if self._zygote.layers != layers:  # the report says how well all of them were kept in
            raise LaunchError(f"the sandbox of a new process is another: {self._zygote.layers}, was {layers}")
        self._examiners = [self._fork(slot) for slot in range(len(self._zygote.controls))]
        if alone >= 0 and failed.busy_with == alone:
            yield self._given_up(alone)
        else:
            self._suspects.extend(in_flight)

    def _given_up(self, number: int) -> Submission:
        return unscored(
            self._grading.assignment,
            self._found[number].id,
            Status.GRADER_ERROR,
            "the grader's own process failed, or did not end, twice while grading this submission; grade it alone "
            "with --only, and report what you see",
        )


def _serve(grading: Grading, found: Sequence[Found], launcher: ForkLauncher, connection: socket.socket) -> None:
    """The life of an examiner: a number in, an entry out; nothing out when the grader itself failed."""
    while True:
        try:
            (number,) = _NUMBER.unpack(_exactly(connection, _NUMBER.size))
        except EOFError:
            os._exit(0)
        try:
            text = to_json(grading.submission(found[number], launcher)).encode()
        except _FAULTS:
            text = b""
        connection.sendall(_LENGTH.pack(len(text)) + text)


def _exactly(connection: socket.socket, length: int) -> bytes:
    received = bytearray()
    while len(received) < length:
        some = connection.recv(length - len(received))
        if not some:
            raise EOFError
        received += some
    return bytes(received)
