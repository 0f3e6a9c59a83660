"""A call with the steps on its way, as a worker tells them; what it failed of, and where a gradient was cut off.

Untrusted, like every reply: read strictly, within the caps that the worker keeps to.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from grader.outcome import (
    Forbidden,
    Gradients,
    Line,
    MissingName,
    Name,
    Raised,
    Record,
    Returned,
    Size,
    WrongParameters,
    first_fault,
    must_match,
)
from grader.worker.describe import MOST_AXES
from grader.worker.trace import MOST_SHAPES, MOST_STEPS, MOST_TIMES
from grader.worker.wire import Frame, ProtocolError

#: Operations that make weights of scores, or begin to.
NORMALISING = frozenset({"softmax", "exp", "log_softmax", "sigmoid"})
#: Operations that multiply and add up: different spellings of the same step.
_PRODUCTS = frozenset({"matmul", "mm", "bmm", "mv", "dot", "einsum", "tensordot", "inner"})
#: Ways to write one operation; `view` and `reshape` fail of the same mistake.
_FAMILIES = dict.fromkeys(_PRODUCTS, "product") | dict.fromkeys(("view", "reshape", "unflatten", "view_as"), "reshape")

#: What a call failed of: plain words, numbers and shapes, equal where two programs fail alike.
Failure = tuple[object, ...]

_Shape = Annotated[tuple[Size, ...], Field(max_length=MOST_AXES)]
_Shapes = Annotated[tuple[_Shape, ...], Field(max_length=MOST_SHAPES)]
_StepNumber = Annotated[int, Field(ge=0, lt=MOST_STEPS)]


class Made(Record):
    """A tensor operation of a student's code, by the worker's own word."""

    file: Name
    line: Size
    operation: Annotated[str, Field(max_length=80)]
    #: The equation of an einsum.
    detail: Annotated[str, Field(max_length=80)] = ""
    #: Shapes of the tensors that went in, and of those that came out; the first of many.
    inputs: _Shapes
    outputs: _Shapes
    #: Arguments of the call that what came out depends on.
    sources: Annotated[tuple[Name, ...], Field(max_length=MOST_SHAPES)]
    #: Whether it depends on a parameter.
    is_learned: bool
    #: Whether a floating tensor came out.
    is_floating: bool
    #: Whether the tensors stood for many, as inside of vmap, and lack an axis.
    is_wrapped: bool
    #: Whether it raised, perhaps into the student's own `except`.
    is_raised: bool
    times: Annotated[int, Field(ge=1, le=MOST_TIMES)]


class Traced(Record):
    """A call, and the steps on its way. Of the steps those are named by their number that ..."""

    status: Literal["traced"]
    reply: Annotated[Returned | Raised | Forbidden | MissingName | WrongParameters, Field(discriminator="status")]
    #: None when it was not asked for, or the output has not the shape of what was to be sent back.
    backward: Annotated[Gradients | Raised | Forbidden, Field(discriminator="status")] | None
    steps: Annotated[tuple[Made, ...], Field(max_length=MOST_STEPS)]
    #: Whether there were more.
    is_cut: bool
    #: ... raised what the call ended with.
    raised: _StepNumber | None
    #: ... was the first to make NaN of what had none.
    nan: _StepNumber | None
    #: ... kept a gradient from coming back to an argument or parameter that gets none.
    cut: _StepNumber | None
    #: ... made the returned values, in order.
    returned: Annotated[tuple[_StepNumber | None, ...], Field(max_length=8)]
    #: The line of the forward pass that an exception of the backward pass goes back to; its text is the operation.
    blamed: Line | None
    dropped: Size = 0

    def step(self, number: int | None) -> Made | None:
        """The step of that number, where it was kept."""
        return self.steps[number] if number is not None and number < len(self.steps) else None


def read_trace(frame: Frame) -> Traced:
    """The reply to a call that was to be traced.

    Raises:
        ProtocolError: the header is no such reply, or the frame holds a tensor.
    """
    try:
        traced = Traced.model_validate(frame.header)
    except ValidationError as error:
        raise first_fault(error) from None
    if frame.tensors:
        raise ProtocolError("a reply of status traced came with tensors")
    if isinstance(traced.reply, Returned):
        must_match(traced.reply.tree, {})
    return traced


def gradient_cut(traced: Traced) -> tuple[str, int, str] | None:
    """File, line and operation where a gradient that never arrives was cut off; None where that is not certain."""
    made = traced.step(traced.cut)
    return (made.file, made.line, made.operation) if made else None


def weak_signature(traced: Traced) -> Failure | None:
    """What a call failed of, to be compared with how trusted code fails: what raised, or what first made NaN.

    Equal for the usual spellings of one operation, before the weights are made or after. None where no operation raised
    and none made NaN.
    """
    kind, number = "raised", traced.raised
    if traced.step(number) is None and isinstance(traced.reply, Returned):
        kind, number = "nan", traced.nan
    made = traced.step(number)
    if made is None:
        return None
    name = made.operation.rstrip("_")
    family = _FAMILIES.get(name, name)
    shapes: Sequence[tuple[int, ...]] = made.inputs
    if family == "product":  # operands in any order, their axes too: an einsum needs no transposing
        shapes = sorted(tuple(sorted(shape)) for shape in shapes)
    before = traced.steps[:number]
    return kind, family, tuple(shapes), any(step.operation.rstrip("_") in NORMALISING for step in before)


def failure_of(traced: Traced) -> Failure | None:
    """What a call failed of, where that is certain: an operation, or a `raise` of the program's own."""
    signature = weak_signature(traced)
    reply = traced.reply
    if signature is None and isinstance(reply, Raised) and _is_deliberate(reply):
        return "deliberate", reply.type, reply.stage
    return signature


def _is_deliberate(raised: Raised) -> bool:
    """Whether a statement of the program's own raised it, and no operation."""
    return bool(raised.frames) and raised.frames[-1].text.strip().startswith(("raise ", "assert "))
