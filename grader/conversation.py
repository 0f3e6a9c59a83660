"""Asking one submission's code: what is asked of its worker, in which order, and what an answer that is lost means.

Keeps the limits of a submission: how long an import and a call may take, and all together; how often a callable may run
out of time. The worker itself, and its deadlines, are the business of `line`.
"""

import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

import torch

from grader.assignment import Assignment, Limits
from grader.batch import Batch
from grader.call import Call
from grader.launch import Launcher, LaunchError
from grader.line import Line, Lost
from grader.outcome import (
    Failed,
    Loaded,
    Node,
    NotAsked,
    Outcome,
    Raised,
    Returned,
    Scanned,
    TimedOut,
    is_differentiable,
    read_backward,
    read_call,
    read_load,
    read_scan,
)
from grader.traced import Traced, read_trace
from grader.worker import wire
from grader.worker.sandbox.layers import LAYERS

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
        self._assignment = assignment
        self._sources = dict(sources)
        self._layers = list(layers)
        #: Files that are not compiled any more, and why.
        self._refused: dict[str, str] = {}
        self._line = Line(launcher, self._start_frame())
        self._limits = limits
        #: By part: the worker it was loaded into, by its generation, and how that failed.
        self._loaded: dict[str, tuple[int, Failed | None]] = {}
        self._timeouts: Counter[tuple[str, str]] = Counter()
        #: Seconds in which new workers imported anew: not the student's, as long as there is a measure in it.
        self._imported_again_s = 0.0
        self._kept_bytes = 0
        #: Whether a batch came to nothing: then no other is tried.
        self._has_failed_together = False
        #: Whether a worker was lost while it was watched: then none is watched again.
        self._was_lost_watching = False
        #: What importing a part printed, until it is told with an outcome.
        self._printed_by_import: dict[str, str] = {}
        #: Why no worker could be started; nothing is asked any more, and whoever runs the session is to raise it.
        self.fault: LaunchError | None = None

    def scan(self) -> Scanned:
        """What the text of the files says. To be asked first: none of the student's code has run in the worker.

        A file that Python's parser does not survive is not compiled any more, and fails to import, saying so.

        Raises:
            LaunchError: no worker could be started (the grader's fault).
        """
        found = self._scan(list(self._sources))
        if found is not None:
            return found
        deadline = time.monotonic() + self._limits.submission_s
        parts = []
        for file in self._sources:
            found = self._scan([file]) if time.monotonic() < deadline else None
            if found is not None:
                parts.append(found)
                continue
            self._refused[file] = "Python's own parser did not come to an end with this file"
            self._line.start = self._start_frame()
            self._line.end()
        return Scanned(
            findings=tuple(sign for part in parts for sign in part.findings),
            absent=tuple(absent for part in parts for absent in part.absent),
        )

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
            if upstream is not None and is_differentiable(outcome, upstream):
                outcome = self._backward(call, outcome, upstream)
        except Lost as lost:
            outcome = Outcome(reply=self._lose(lost, call), printed=self._line.printed())
        if _is_starved(outcome):
            self._line.end()
        return replace(outcome, printed=printed + outcome.printed)

    def ask_all(self, batch: Batch) -> tuple[Outcome, ...] | None:
        """The outcomes of a batch; None when anything went wrong or was printed: then each is to be asked alone.

        Nothing remains of such an attempt: its worker is ended, and its time is not the student's.
        """
        is_over = self._line.used_s >= self._limits.submission_s or self._has_timed_out(batch.part)
        if self.fault or is_over or self._has_failed_together:
            return None
        try:
            return None if self._load(batch.part) else self._try(batch)
        except LaunchError as fault:
            self.fault = fault
            return None

    def _try(self, batch: Batch) -> tuple[Outcome, ...] | None:
        used_s = self._line.used_s
        try:
            first, *others = self._answers(batch)
            if not self._line.printed() and not any(map(_must_be_asked_alone, (first, *others))):
                return replace(first, printed=self._take_printed_by_import(batch.part)), *others
        except Lost:
            pass
        self._line.end()
        self._line.printed()  # by what has not happened
        self._line.used_s = used_s
        self._has_failed_together = True
        return None

    @property
    def used_s(self) -> float:
        """Seconds that the student's code has run so far, without what it waited for a busy machine."""
        return self._line.used_s

    def begin_anew(self) -> None:
        """What is asked next meets a worker that was asked nothing before."""
        self._line.end()
        self._line.printed()  # and was told already

    def trace(self, call: Call, upstream: torch.Tensor | None) -> Traced | None:
        """The steps of a call and, with `upstream`, of its backward pass; None when there is nothing to be told.

        The time it takes is the submission's, as of any call, but running out of it is no timeout of the callable:
        watching takes time too. It happens once: code that does not bear to be watched is not watched again.
        """
        if self.fault or self._was_lost_watching or self._refusal(call):
            return None
        tensors = call.payload.tensors | ({} if upstream is None else {"upstream": upstream.contiguous()})
        frame = wire.encode(call.header() | {"op": "trace"}, tensors)
        try:
            if self._load(call.part):
                return None
            return self._line.ask(frame, self._limits.call_s, "call", read_trace)[0]
        except Lost:
            self._line.end()
            self._was_lost_watching = True
        except LaunchError as fault:
            self.fault = fault
        finally:
            self._line.printed()  # has been told with the answer of the same call
        return None

    def close(self) -> None:
        """End the worker."""
        self._line.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._line.close(is_killed=error is not None)

    def _refusal(self, call: Call) -> str:
        if self._timeouts[call.part, call.name] >= self._limits.timeouts:
            return f"{call.name} ran out of time {self._limits.timeouts} times and was not called again"
        if self._line.used_s >= self._limits.submission_s:
            return f"the submission has used its {self._limits.submission_s:g} s"
        return ""

    def _has_timed_out(self, part: str) -> bool:
        return any(other == part for other, _ in self._timeouts)

    def _scan(self, files: list[str]) -> Scanned | None:
        """The scan of these files; None when the worker was lost over it. Nothing of it is the student's time."""
        used_s = self._line.used_s
        try:
            frame = wire.encode({"op": "scan", "files": files}, {})
            return self._line.ask(frame, self._limits.import_s, "import", read_scan)[0]
        except Lost:
            self._line.end()
            return None
        finally:
            self._line.used_s = used_s
            self._line.printed()  # by a module of Python's that was tried out

    def _start_frame(self) -> bytes:
        """What a worker is sent first."""
        own = self._assignment
        limits = own.limits
        return wire.encode(
            {
                "sources": self._sources,
                "stubs": [part.name for part in own.parts],
                "asked": [name for part in own.parts for name in part.callables],
                "refused": self._refused,
                "passes_over_failures": own.rules.passes_over_failures,
                "limits": {"cpu_s": limits.cpu_s, "memory_mib": limits.memory_mib, "files": limits.files},
                "forbidden": own.rules.forbidden,
                "flagged": own.rules.flagged,
                "imports": own.rules.imports,
                "layers": self._layers,
            },
            {},
        )

    def _load(self, part: str) -> Failed | None:
        """Import the part once per worker; a part that failed to import is not tried again."""
        generation, failed = self._loaded.get(part, (0, None))
        if failed or (self._line.is_open and generation == self._line.generation):
            return failed
        used_s = self._line.used_s
        frame = wire.encode({"op": "load", "part": part}, {})
        try:
            reply, _ = self._line.ask(frame, self._limits.import_s, "import", read_load)
            failed = None if isinstance(reply, Loaded) else reply
        except Lost as lost:
            self._line.end()
            failed = self._line.explained(lost.failed)
        if generation and self._imported_again_s < self._limits.submission_s:
            self._imported_again_s += self._line.used_s - used_s
            self._line.used_s = used_s
        self._loaded[part] = self._line.generation, failed
        self._printed_by_import[part] = self._line.printed()
        return failed

    def _forward(self, call: Call) -> Outcome:
        reply, tensors = self._line.ask(call.frame(), self._limits.call_s, "call", read_call)
        if isinstance(reply, Returned) and not self._can_keep(tensors):
            kept = tuple(map(_without_data, reply.kept))
            reply, tensors = reply.model_copy(update={"tree": _without_data(reply.tree), "kept": kept}), {}
        return Outcome(reply=reply, tensors=tensors, printed=self._line.printed(), is_printed_cut=reply.dropped > 0)

    def _backward(self, call: Call, outcome: Outcome, upstream: torch.Tensor) -> Outcome:
        frame = wire.encode({"op": "gradient"}, {"upstream": upstream})
        try:
            reply, tensors = self._line.ask(frame, self._limits.call_s, "backward", read_backward)
        except Lost as lost:
            return replace(outcome, backward=self._lose(lost, call))
        return replace(outcome, backward=reply, gradients=_gradients_of(call, tensors))

    def _can_keep(self, tensors: Mapping[str, torch.Tensor]) -> bool:
        self._kept_bytes += sum(tensor.nbytes for tensor in tensors.values())
        return self._kept_bytes <= _MOST_KEPT

    def _answers(self, batch: Batch) -> list[Outcome]:
        """The outcomes of a batch, when all that went wrong in it is what Python can tell."""
        count, limit_s = len(batch.questions), self._limits.call_s
        answers = self._line.ask_all(batch.frame, count, limit_s, "call", read_call)
        outcomes = [Outcome(reply=reply, tensors=tensors) for reply, tensors in answers]
        if not batch.upstream_frame:
            return outcomes
        backward = self._line.ask_all(batch.upstream_frame, count, limit_s, "backward", read_backward)
        return [
            replace(outcome, backward=reply, gradients=_gradients_of(question.call, tensors))
            if question.upstream is not None and is_differentiable(outcome, question.upstream)
            else outcome
            for question, outcome, (reply, tensors) in zip(batch.questions, outcomes, backward, strict=True)
        ]

    def _lose(self, lost: Lost, call: Call) -> Failed:
        if isinstance(lost.failed, TimedOut):
            self._timeouts[call.part, call.name] += 1
        self._line.end()
        return self._line.explained(lost.failed)

    def _take_printed_by_import(self, part: str) -> str:
        printed = self._printed_by_import.get(part, "")
        if printed:
            self._printed_by_import[part] = ""
        return printed


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
