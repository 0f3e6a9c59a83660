"""Trusted code in the place of a student: a course's own modules, answering in this process as a worker would."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import ModuleType

import torch

from grader.batch import Batch
from grader.call import Call
from grader.oracle import PACKAGE, Oracle
from grader.outcome import (
    Gradients,
    Loaded,
    Outcome,
    Raised,
    Scanned,
    is_differentiable,
    read_reply,
)
from grader.traced import Traced, read_trace
from grader.worker.answer import Answerer
from grader.worker.trace import record
from grader.worker.wire import Frame


def respond(
    answerer: Answerer,
    target: tuple[str, str],
    call: Call,
    upstream: torch.Tensor | None,
    history: Sequence[Call] = (),
) -> Outcome:
    """The outcome of a call put to `target`, a module and a name in it, and with `upstream` of its backward pass.

    Args:
        history: calls that reach the same object first.
    """
    for earlier in history:
        answerer.call(earlier.request(*target))
    answer = answerer.call(call.request(*target))
    reply = read_reply(answer)
    assert not isinstance(reply, (Gradients, Loaded, Scanned))
    outcome = Outcome(reply=reply, tensors=answer.tensors)
    if upstream is None or not is_differentiable(outcome, upstream):
        return outcome
    gradients = answerer.gradient(Frame({}, {"upstream": upstream}))
    backward = read_reply(gradients)
    assert isinstance(backward, (Gradients, Raised))
    return replace(outcome, backward=backward, gradients=gradients.tensors)


def traced(answerer: Answerer, target: tuple[str, str], call: Call, upstream: torch.Tensor | None) -> Traced:
    """The steps of a call put to `target`, and with `upstream` of its backward pass."""
    request = call.request(*target)
    if upstream is not None:
        request.tensors["upstream"] = upstream.clone()
    return read_trace(record(answerer, request))


class TrustedRespondent:
    """Answers with the reference, or with other modules in its place, and keeps what was built, as a worker does.

    What a check finds wrong with the reference is wrong with the check.
    """

    #: None of it is a student's.
    used_s = 0.0

    def __init__(self, oracle: Oracle, make: Callable[[], Mapping[str, ModuleType]] | None = None) -> None:
        """`make`: makes the modules, by the names of the reference's; None: those themselves."""
        self._oracle = oracle
        self._make = make
        self.begin_anew()

    def ask(self, call: Call, upstream: torch.Tensor | None) -> Outcome:
        """The outcome of a call, and with `upstream` of its backward pass."""
        return respond(self._answerer, self._oracle.target(call.part, call.name), call, upstream)

    def ask_all(self, batch: Batch) -> None:
        """Nothing is saved by asking this process many things at once."""

    def trace(self, call: Call, upstream: torch.Tensor | None) -> Traced:
        """The steps of a call, and with `upstream` of its backward pass."""
        return traced(self._answerer, self._oracle.target(call.part, call.name), call, upstream)

    def begin_anew(self) -> None:
        """From now on, nothing of earlier calls is left."""
        modules = self._make() if self._make else None
        self._answerer = Answerer(modules.__getitem__, is_of_reference) if modules else self._oracle.answerer()


def is_of_reference(file: str) -> bool:
    """Whether a line's file is one of the reference's, as edited ones are called."""
    return file.startswith(f"{PACKAGE}/")
