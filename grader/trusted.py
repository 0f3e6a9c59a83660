"""Trusted code in the place of a student: a course's own modules, answering in this process as a worker would."""

from dataclasses import replace

import torch

from grader.batch import Batch
from grader.call import Call
from grader.oracle import Oracle
from grader.outcome import Gradients, Loaded, Outcome, Raised, Returned, Scanned, Traced, read_reply
from grader.worker.wire import Frame


class TrustedRespondent:
    """Answers with the reference. What a check finds wrong with it is wrong with the check."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def ask(self, call: Call, upstream: torch.Tensor | None) -> Outcome:
        """The outcome of a call, and with `upstream` of its backward pass."""
        answerer = self._oracle.answerer()
        answer = answerer.call(self._oracle.request(call))
        reply = read_reply(answer)
        assert not isinstance(reply, (Gradients, Loaded, Scanned, Traced))
        outcome = Outcome(reply=reply, tensors=answer.tensors)
        if upstream is None or not isinstance(reply, Returned):
            return outcome
        gradients = answerer.gradient(Frame({}, {"upstream": upstream}))
        backward = read_reply(gradients)
        assert isinstance(backward, (Gradients, Raised))
        return replace(outcome, backward=backward, gradients=gradients.tensors)

    def ask_all(self, batch: Batch) -> None:
        """Nothing is saved by asking this process many things at once."""
