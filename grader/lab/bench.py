"""A module in a worker: it is asked, and what it answers is read. Whatever is no answer is raised, in a check's words.

The module may be wrong in any way, so each value is read only when an experiment needs it: outputs alone show whether
the future leaks, whatever the weights are.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import NoReturn

import torch
from torch import Tensor

from grader import compare
from grader.call import Build, Call, Payload
from grader.conversation import Conversation
from grader.failure import (
    Asked,
    Fact,
    NoAnswer,
    NoGradient,
    NotFinite,
    WrongDtype,
    WrongShape,
    WrongStructure,
    verdict_of,
)
from grader.fault import Fault
from grader.lab.drawn import Weights
from grader.lab.figures import Problem
from grader.messages import message
from grader.outcome import Gradients, Node, Outcome, Returned, in_words
from grader.traced import Traced
from grader.verdict import Verdict

_INPUT = "x"
#: Larger numbers have squares, and sums of these, that are none any more; the right ones are below ten.
_LARGEST = 1e100
_VALUES = "a tuple (output, weights) of tensors"
_OUTPUT_AXES = ("batch", "position", "d_model")
_WEIGHTS_AXES = ("batch", "head", "query", "key")


class Unanswered(Exception):
    """A call did not give what was asked of it."""

    def __init__(self, verdict: Verdict, text: str) -> None:
        super().__init__(text)
        self.verdict = verdict
        self.text = text

    def problem(self, at: str = "") -> Problem:
        """The record of it. `at`: which call it was."""
        return Problem(at=at, verdict=self.verdict, message=self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A class in a file."""

    part: str
    file: str
    name: str
    #: What its parameters are called that stand for `Weights.qkv` and `Weights.out`.
    qkv: str = "qkv.weight"
    out: str = "out.weight"


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A module that is built in the worker when it is first called, and kept there."""

    d_model: int
    n_heads: int
    #: Sent with every call; empty once they are there for good.
    parameters: Mapping[str, Tensor]
    #: Its number among all modules of a bench.
    handle: int
    dtype: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A call, ready to be sent as often as one likes, and what to send back through its output."""

    call: Call
    upstream: Tensor | None
    asked: Asked
    output_shape: tuple[int, ...]
    weights_shape: tuple[int, ...]


class Answer:
    """What came back. Values are read when they are asked for, in float64."""

    def __init__(self, question: Question, outcome: Outcome) -> None:
        """Raises Unanswered where nothing was returned."""
        self._question = question
        self._outcome = outcome
        if not isinstance(outcome.reply, Returned):
            parameters = {name: tuple(one.shape) for name, one in question.call.payload.parameters.items()}
            self._fail(verdict_of(outcome.reply), NoAnswer(failed=outcome.reply, parameters=parameters))
        self._tree = outcome.reply.tree

    @property
    def output(self) -> Tensor:
        """The output [batch, position, d_model]. Raises Unanswered."""
        return self._value("output", 0, self._question.output_shape, _OUTPUT_AXES)

    @property
    def weights(self) -> Tensor:
        """The weights [batch, head, query, key]. Raises Unanswered."""
        return self._value("weights", 1, self._question.weights_shape, _WEIGHTS_AXES)

    @property
    def weights_bytes(self) -> int:
        """What the returned weights take. Raises Unanswered."""
        node = self._node("weights", 1, self._question.weights_shape, _WEIGHTS_AXES)
        return math.prod(node.shape or ()) * int(getattr(torch, node.dtype).itemsize)

    @property
    def gradient(self) -> Tensor:
        """The gradient of x. Raises Unanswered."""
        backward, key = self._outcome.backward, f"arg.{_INPUT}"
        if backward is None:  # what was returned is nothing that a gradient could start from
            self._node("output", 0, self._question.output_shape, _OUTPUT_AXES)
            self._fail(Verdict.NO_GRADIENT, NoGradient(names=(_INPUT,)))
        if not isinstance(backward, Gradients):
            self._fail(verdict_of(backward), NoAnswer(failed=backward, is_backward=True))
        found = self._outcome.gradients.get(key)
        if found is None:
            self._fail(Verdict.NO_GRADIENT, NoGradient(names=(_INPUT,)))
        return self._finite(_INPUT, found, _OUTPUT_AXES, is_gradient=True)

    def must_have_run(self) -> None:
        """Raises Unanswered where the forward pass, or a backward pass that was asked for, did not come to its end."""
        self._node("output", 0, self._question.output_shape, _OUTPUT_AXES)
        if self._question.upstream is not None and not isinstance(self._outcome.backward, Gradients):
            assert self._outcome.backward is not None, "a floating output of the right shape was differentiated"
            self._fail(verdict_of(self._outcome.backward), NoAnswer(failed=self._outcome.backward, is_backward=True))

    def _value(self, name: str, place: int, shape: tuple[int, ...], axes: tuple[str, ...]) -> Tensor:
        node = self._node(name, place, shape, axes)
        data = self._outcome.tensors.get(node.data or "")
        if data is None:
            raise Unanswered(Verdict.CRASHED, f"{self._question.asked.text} returned more than can be sent")
        return self._finite(name, data, axes)

    def _node(self, name: str, place: int, shape: tuple[int, ...], axes: tuple[str, ...]) -> Node:
        values = self._tree.values
        node = values[place] if place < len(values) else None
        if node is None or node.kind != "tensor" or node.oddity:
            self._fail(Verdict.WRONG_TYPE, WrongStructure(found=in_words(self._tree), wanted=_VALUES))
        if node.shape != shape:
            fact = WrongShape(name=name, observed=node.shape or (), expected=shape, axes=axes)
            self._fail(Verdict.WRONG_SHAPE, fact)
        if not node.dtype.startswith(("float", "bfloat")):
            dtype = self._question.call.dtype
            self._fail(Verdict.WRONG_DTYPE, WrongDtype(name=name, observed=node.dtype, expected=dtype))
        return node

    def _finite(self, name: str, tensor: Tensor, axes: tuple[str, ...], *, is_gradient: bool = False) -> Tensor:
        odd = compare.first_not_finite(tensor)
        if odd:
            index, value, number = odd
            total = tensor.numel()
            fact = NotFinite(
                name=name, index=index, axes=axes, value=value, count=number, total=total, is_gradient=is_gradient
            )
            self._fail(Verdict.NOT_FINITE, fact)
        largest = float(tensor.abs().max()) if tensor.numel() else 0.0
        if largest > _LARGEST:
            what = f"the gradient of {name}" if is_gradient else name
            text = f"{self._question.asked.text} gave {largest:.2g} in {what}; up to {_LARGEST:g} can be measured"
            raise Unanswered(Verdict.WRONG_VALUE, text)
        return tensor.double()

    def _fail(self, verdict: Verdict, fact: Fact) -> NoReturn:
        raise Unanswered(verdict, message(fact, self._question.asked))


class OpponentError(Fault):
    """What the grader itself put into a worker gave no answer."""


class Bench:
    """One class, and the conversation in which it is asked."""

    def __init__(
        self,
        conversation: Conversation,
        target: Target,
        seed: int,
        handles: Iterator[int] | None = None,
        *,
        is_trusted: bool = False,
    ) -> None:
        """Ask a class.

        Args:
            seed: for messages.
            handles: numbers for modules, where several benches share the conversation.
            is_trusted: whether the class is none of a student's.
        """
        self._conversation = conversation
        self._target = target
        self._seed = seed
        self._is_trusted = is_trusted
        self._handles = handles or count()

    def module(self, weights: Weights, n_heads: int, dtype: str) -> Module:
        """A module with these weights; nothing is asked yet."""
        named = {self._target.qkv: weights.qkv, self._target.out: weights.out}
        return Module(
            d_model=weights.d_model,
            n_heads=n_heads,
            parameters={name: tensor.to(getattr(torch, dtype)) for name, tensor in named.items()},
            handle=next(self._handles),
            dtype=dtype,
        )

    def placed(self, module: Module) -> Module:
        """The same, its weights being in the worker: they are not sent again, and their gradients are not asked for.

        Whoever meets Unanswered places it anew: the worker may be another. Raises Unanswered.
        """
        few = torch.zeros(1, 2, module.d_model, dtype=torch.float64)
        self.ask(self.question(module, few))
        return replace(module, parameters={})

    def question(self, module: Module, x: Tensor, upstream: Tensor | None = None) -> Question:
        """A call of a module, as a copy of x in the module's dtype."""
        kind = getattr(torch, module.dtype)
        shape = tuple(x.shape)
        call = Call(
            part=self._target.part,
            name=self._target.name,
            arguments=({"tensor": _INPUT},),
            payload=Payload({_INPUT: x.to(kind)}, module.parameters),
            build=Build(
                arguments={"d_model": module.d_model, "n_heads": module.n_heads},
                handle=module.handle,
                is_without_spare_biases=True,
            ),
            dtype=module.dtype,
            wants=(_INPUT,) if upstream is not None else (),
        )
        made = f"{self._target.name}(d_model={module.d_model}, n_heads={module.n_heads})"
        asked = Asked(
            text=f"{made}({_INPUT})",
            inputs=f"{_INPUT} {list(shape)}  {module.dtype}  seed {self._seed}",
            file=self._target.file,
            callable=self._target.name,
        )
        return Question(
            call=call,
            upstream=None if upstream is None else upstream.to(kind).contiguous(),
            asked=asked,
            output_shape=shape,
            weights_shape=(shape[0], module.n_heads, shape[1], shape[1]),
        )

    def ask(self, question: Question) -> Answer:
        """The answer.

        Raises:
            Unanswered: the student's module gave none.
            LaunchError, OpponentError: faults of the grader, or of its machine.
        """
        outcome = self._conversation.ask(question.call, question.upstream)
        try:
            return Answer(question, outcome)
        except Unanswered as unanswered:
            if self._is_trusted:
                raise OpponentError(f"what is compared with gave no answer: {unanswered.text}") from None
            raise

    def seconds(self, question: Question) -> float:
        """How long the answer took, wire and all. Raises as `ask` does."""
        before_s = self._conversation.used_s
        self.ask(question).must_have_run()
        return self._conversation.used_s - before_s

    def trace(self, question: Question) -> Traced | None:
        """The steps of the forward pass; None where it cannot be watched."""
        return self._conversation.trace(question.call, None)


def fitting_dtype(bench: Bench, weights: Weights, n_heads: int, x: Tensor) -> str:
    """float64, where the module takes it or takes nothing; float32, where it takes that alone."""
    for dtype in ("float64", "float32"):
        try:
            bench.ask(bench.question(bench.module(weights, n_heads, dtype), x, x)).must_have_run()
        except Unanswered:
            continue
        return dtype
    return "float64"


def is_hopeless(unanswered: Unanswered) -> bool:
    """Whether the same is to be expected of every other call."""
    hopeless = (Verdict.IMPORT_ERROR, Verdict.MISSING_NAME, Verdict.NOT_IMPLEMENTED, Verdict.BLOCKED)
    return unanswered.verdict in hopeless


Step = Callable[[], None]
