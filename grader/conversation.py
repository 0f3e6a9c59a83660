"""Asking one submission's code: requests to its worker, answers within their deadlines, a new worker when one is lost.

The worker is untrusted. Every wait has a deadline kept on this side, with SIGKILL at its end; every byte is capped
and validated; no answer, or an odd one, is an outcome that says so.
"""

import contextlib
import os
import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

import torch

from grader.assignment import Assignment, Limits
from grader.batch import Batch
from grader.call import Call
from grader.exchange import exchange
from grader.launch import Launcher, LaunchError, Worker
from grader.outcome import (
    Died,
    Failed,
    Garbled,
    Gradients,
    Loaded,
    Node,
    NotAsked,
    Outcome,
    Raised,
    Returned,
    TimedOut,
    read_batch,
    read_reply,
)
from grader.worker import wire
from grader.worker.sandbox import LAYERS
from grader.worker.serve import MOST_PRINTED

#: Characters kept of what is wrong with a reply: they may quote it.
_MOST_DETAIL = 300
#: Bytes kept of all answers of a submission; of further ones their description is. Right ones are a few KiB each, and
#: all are kept until the submission is done.
_MOST_KEPT = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLimits:
    """Deadlines, in seconds of wall clock, all kept from outside the worker."""

    import_s: float = 10.0
    call_s: float = 2.0
    #: Sum over a submission of the time its own code took, imports included.
    submission_s: float = 20.0
    #: Timeouts of a callable after which it is not asked again.
    timeouts: int = 2

    @classmethod
    def of(cls, limits: Limits, call_s: float | None = None) -> Self:
        """Those of an assignment; `call_s` overrides its limit of a call."""
        return cls(
            import_s=limits.import_s,
            call_s=call_s or limits.call_s,
            submission_s=limits.submission_s,
            timeouts=limits.timeouts,
        )


class _Lost(Exception):
    """The worker did not give an answer; carries what to report instead."""

    def __init__(self, failed: TimedOut | Died | Garbled) -> None:
        super().__init__(failed)
        self.failed = failed


class Conversation:
    """The trusted end of all talk with one submission. A context manager: the worker ends with the block."""

    def __init__(
        self,
        launcher: Launcher,
        sources: Mapping[str, str],
        assignment: Assignment,
        limits: TimeLimits,
        layers: Collection[str] = LAYERS,
    ) -> None:
        """`sources`: file name to text; `layers`: those of the sandbox that its workers put on."""
        self._launcher = launcher
        own = assignment.limits
        self._start = wire.encode(
            {
                "sources": dict(sources),
                "stubs": [part.name for part in assignment.parts],
                "limits": {"cpu_s": own.cpu_s, "memory_mib": own.memory_mib, "files": own.files},
                "layers": list(layers),
            },
            {},
        )
        self._limits = limits
        self._worker: Worker | None = None
        self._loaded: dict[str, Failed | None] = {}
        self._timeouts: Counter[tuple[str, str]] = Counter()
        self._used_s = 0.0
        #: Seconds in which new workers imported anew: not the student's, as long as there is a measure in it.
        self._used_again_s = 0.0
        self._kept_bytes = 0
        #: Whether a batch came to nothing: then no other is tried.
        self._has_failed_together = False
        #: What importing a part printed, until it is told with an outcome.
        self._printed_by_import: dict[str, str] = {}
        #: What the last worker had printed when it was ended, and how it ended.
        self._printed_last = ""
        self._exit_code: int | None = None
        #: Why no worker could be started; nothing is asked any more, and whoever runs the session is to raise it.
        self.fault: LaunchError | None = None

    def ask(self, call: Call, upstream: torch.Tensor | None) -> Outcome:
        """The outcome of a call; with `upstream`, of its backward pass too, when the output has that shape.

        Raises:
            LaunchError: no worker could be started (the grader's fault).
        """
        if self.fault:
            raise self.fault
        try:
            return self._ask(call, upstream)
        except LaunchError as fault:
            self.fault = fault
            raise

    def _ask(self, call: Call, upstream: torch.Tensor | None) -> Outcome:
        refused = self._refusal(call)
        if refused:
            return Outcome(reply=NotAsked(reason=refused))
        failed = self._load(call.part)
        printed = self._take_printed_by_import(call.part)
        if failed:
            return Outcome(reply=failed, printed=printed)
        try:
            outcome = self._forward(call)
            if upstream is not None and _is_differentiable(outcome, upstream):
                outcome = self._backward(call, outcome, upstream)
        except _Lost as lost:
            outcome = Outcome(reply=self._lose(lost, call), printed=self._printed())
        if _is_starved(outcome):
            self._end_worker()
        return replace(outcome, printed=printed + outcome.printed)

    def ask_all(self, batch: Batch) -> tuple[Outcome, ...] | None:
        """The outcomes of a batch; None when anything went wrong or was printed: then each is to be asked alone.

        Nothing remains of such an attempt: its worker is ended, and its time is not the student's.
        """
        is_over = self._used_s >= self._limits.submission_s or self._has_timed_out(batch.part)
        if self.fault or is_over or self._has_failed_together:
            return None
        try:
            return None if self._load(batch.part) else self._try(batch)
        except LaunchError as fault:
            self.fault = fault
            return None

    def _try(self, batch: Batch) -> tuple[Outcome, ...] | None:
        used_s = self._used_s
        try:
            first, *others = self._answers(batch)
            if not self._printed() and not any(map(_must_be_asked_alone, (first, *others))):
                return replace(first, printed=self._take_printed_by_import(batch.part)), *others
        except _Lost:
            pass
        self._end_worker()
        self._printed_last = ""
        self._used_s = used_s
        self._has_failed_together = True
        return None

    def close(self) -> None:
        """End the worker."""
        if self._worker:
            self._worker.wait()
            self._worker = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error and self._worker:
            self._worker.kill()
        self.close()

    def _refusal(self, call: Call) -> str:
        if self._timeouts[call.part, call.name] >= self._limits.timeouts:
            return f"{call.name} ran out of time {self._limits.timeouts} times and was not called again"
        if self._used_s >= self._limits.submission_s:
            return f"the submission has used its {self._limits.submission_s:g} s"
        return ""

    def _has_timed_out(self, part: str) -> bool:
        return any(other == part for other, _ in self._timeouts)

    def _load(self, part: str) -> Failed | None:
        """Import the part once per worker; a part that failed to import is not tried again."""
        if self._loaded.get(part):
            return self._loaded[part]
        if self._worker and part in self._loaded:
            return None
        used_s, is_again = self._used_s, part in self._printed_by_import
        try:
            frame = wire.encode({"op": "load", "part": part}, {})
            reply, _ = self._exchange(frame, self._limits.import_s, "import")
            if not isinstance(reply, (Loaded, Raised)):
                raise _Lost(Garbled(stage="import", detail=f"a reply of status {reply.status}"))
            self._loaded[part] = reply if isinstance(reply, Raised) else None
        except _Lost as lost:
            self._end_worker()
            self._loaded[part] = self._explain(lost.failed)
        if is_again and self._used_again_s < self._limits.submission_s:  # a new worker imports anew: not the student's
            self._used_again_s += self._used_s - used_s
            self._used_s = used_s
        self._printed_by_import[part] = self._printed()
        return self._loaded[part]

    def _forward(self, call: Call) -> Outcome:
        reply, tensors = self._exchange(call.frame(), self._limits.call_s, "call")
        if isinstance(reply, (Gradients, Loaded)):
            raise _Lost(Garbled(stage="call", detail=f"a reply of status {reply.status}"))
        if isinstance(reply, Returned) and not self._can_keep(tensors):
            reply, tensors = reply.model_copy(update={"tree": _without_data(reply.tree)}), {}
        return Outcome(reply=reply, tensors=tensors, printed=self._printed(), is_printed_cut=reply.dropped > 0)

    def _backward(self, call: Call, outcome: Outcome, upstream: torch.Tensor) -> Outcome:
        frame = wire.encode({"op": "gradient"}, {"upstream": upstream})
        try:
            reply, tensors = self._exchange(frame, self._limits.call_s, "backward")
            if not isinstance(reply, (Gradients, Raised)):
                raise _Lost(Garbled(stage="backward", detail=f"a reply of status {reply.status}"))
        except _Lost as lost:
            return replace(outcome, backward=self._lose(lost, call))
        return replace(outcome, backward=reply, gradients=_gradients_of(call, tensors))

    def _can_keep(self, tensors: Mapping[str, torch.Tensor]) -> bool:
        self._kept_bytes += sum(tensor.nbytes for tensor in tensors.values())
        return self._kept_bytes <= _MOST_KEPT

    def _answers(self, batch: Batch) -> list[Outcome]:
        """The outcomes of a batch, when all that went wrong in it is what Python can tell."""
        outcomes = [
            Outcome(reply=reply, tensors=tensors)
            for reply, tensors in self._batch_exchange(batch.frame, len(batch.questions))
        ]
        if batch.upstream_frame:
            backward = self._batch_exchange(batch.upstream_frame, len(batch.questions))
            outcomes = [
                replace(outcome, backward=reply, gradients=_gradients_of(question.call, tensors))
                if question.upstream is not None and _is_differentiable(outcome, question.upstream)
                else outcome
                for question, outcome, (reply, tensors) in zip(batch.questions, outcomes, backward, strict=True)
            ]
        return outcomes

    def _batch_exchange(self, frame: bytes, count: int) -> list[tuple[Any, Mapping[str, torch.Tensor]]]:
        received = self._exchange_frame(frame, self._limits.call_s, "call")
        try:
            return [(read_reply(one), one.tensors) for one in read_batch(received, count)]
        except wire.ProtocolError as error:
            raise _Lost(Garbled(stage="call", detail=str(error)[:_MOST_DETAIL])) from None

    def _exchange(self, frame: bytes, limit_s: float, stage: str) -> tuple[Any, Mapping[str, torch.Tensor]]:
        """Send a request and read its reply."""
        received = self._exchange_frame(frame, limit_s, stage)
        try:
            return read_reply(received), received.tensors
        except wire.ProtocolError as error:
            raise _Lost(Garbled(stage=stage, detail=str(error)[:_MOST_DETAIL])) from None

    def _exchange_frame(self, frame: bytes, limit_s: float, stage: str) -> wire.Frame:
        """Send a request and receive a frame; the time in between is the student's."""
        worker = self._worker or self._new_worker()
        begin = time.monotonic()
        try:
            return exchange(worker.connection, frame, limit_s)
        except TimeoutError:
            raise _Lost(TimedOut(stage=stage, limit_s=limit_s)) from None
        except OSError:
            raise _Lost(Died(stage=stage, exit_code=None)) from None
        except wire.ProtocolError as error:
            raise _Lost(Garbled(stage=stage, detail=str(error)[:_MOST_DETAIL])) from None
        finally:
            self._used_s += time.monotonic() - begin

    def _new_worker(self) -> Worker:
        self._worker = self._launcher.launch()
        self._loaded = {part: failed for part, failed in self._loaded.items() if failed}
        with contextlib.suppress(OSError):  # it ended at once: the next exchange finds out and says so
            self._worker.connection.sendall(self._start)
        return self._worker

    def _lose(self, lost: _Lost, call: Call) -> Failed:
        if isinstance(lost.failed, TimedOut):
            self._timeouts[call.part, call.name] += 1
        self._end_worker()
        return self._explain(lost.failed)

    def _explain(self, failed: TimedOut | Died | Garbled) -> Failed:
        return replace(failed, exit_code=self._exit_code) if isinstance(failed, Died) else failed

    def _end_worker(self) -> None:
        """Kill what cannot be trusted to answer again, keeping what it printed and how it ended."""
        if not self._worker:
            return
        worker, self._worker = self._worker, None
        self._printed_last = _read_printed(worker.printed)
        worker.kill()
        self._exit_code = worker.wait().exit_code

    def _take_printed_by_import(self, part: str) -> str:
        printed = self._printed_by_import.get(part, "")
        if printed:
            self._printed_by_import[part] = ""
        return printed

    def _printed(self) -> str:
        """What was printed since this was last asked, perhaps by a worker that has ended."""
        if self._worker:
            return _read_printed(self._worker.printed)
        printed, self._printed_last = self._printed_last, ""
        return printed


def _read_printed(descriptor: int) -> str:
    try:
        return os.read(descriptor, MOST_PRINTED).decode(errors="replace")
    except BlockingIOError:
        return ""


def _is_starved(outcome: Outcome) -> bool:
    """Whether it ran out of memory: the worker may be left with none for the next call."""
    return any(isinstance(reply, Raised) and reply.is_out_of_memory for reply in (outcome.reply, outcome.backward))


def _must_be_asked_alone(outcome: Outcome) -> bool:
    """Whether an outcome of a batch may owe something to the others: memory, or a buffer they overwrote."""
    return _is_starved(outcome) or isinstance(outcome.backward, Raised)


def _without_data(tree: Node) -> Node:
    """The same description, of tensors that were not sent."""
    items = tuple(item.model_copy(update={"data": None}) for item in tree.items)
    return tree.model_copy(update={"data": None, "items": items})


def _gradients_of(call: Call, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Those that fit an input or a parameter; there is no other use for one."""
    wanted = call.payload.tensors
    return {name: tensor for name, tensor in tensors.items() if name in wanted and tensor.shape == wanted[name].shape}


def _is_differentiable(outcome: Outcome, upstream: torch.Tensor) -> bool:
    """Whether the first returned value is a floating tensor of the upstream gradient's shape."""
    if not isinstance(outcome.reply, Returned):
        return False
    tree = outcome.reply.tree
    root = tree.items[0] if tree.kind == "sequence" and tree.items else tree
    return root.kind == "tensor" and root.shape == tuple(upstream.shape) and root.dtype.startswith(("float", "bfloat"))
