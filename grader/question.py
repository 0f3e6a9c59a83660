"""A question as a check put it: the call, what its object was asked before, the gradient handed down; and the answer.

All students of a run are asked the same questions, so the rehearsal knows them all.
"""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property

import torch

from grader.call import Call
from grader.outcome import Outcome


@dataclass(frozen=True, kw_only=True)
class Question:
    """A call, and in which kind of check it was first put."""

    call: Call
    #: Upstream gradient for its backward pass; None for the forward pass only.
    upstream: torch.Tensor | None
    is_visible: bool
    #: Calls that reached the same module before, oldest first.
    history: tuple[Call, ...] = ()

    @cached_property
    def key(self) -> str:
        """Identity of the question, the same in every process and run that puts it."""
        if not self.history:
            return self.call.digest
        digests = " ".join(call.digest for call in (*self.history, self.call))
        return hashlib.blake2b(digests.encode(), digest_size=16).hexdigest()


    def to_object(self, handle: int) -> "Question":
        """The same question, put to a module of its own: the one with that handle."""
        build = self.call.build
        if build is None:
            return self
        own = replace(build, handle=handle)
        history = tuple(replace(call, build=call.build and replace(call.build, handle=handle)) for call in self.history)
        return replace(self, call=replace(self.call, build=own), history=history)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What came of a question: the outcome that is judged."""

    question: Question
    outcome: Outcome
    #: The precision it was answered in: float32 where only that helped.
    dtype: str
