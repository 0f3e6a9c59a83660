"""What came back from a call: values and gradients, or how it failed.

Replies of a worker are untrusted JSON: the models here are strict, bounded and frozen, and `read_reply` raises
`ProtocolError` for whatever does not fit them. An outcome holds facts only; what they are worth is decided by a check.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Literal, NoReturn

import torch
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    TypeAdapter,
    ValidationError,
)

from grader.worker.describe import MOST_AXES, MOST_BITS, MOST_ITEMS, MOST_TEXT, SENDABLE
from grader.worker.wire import Frame, ProtocolError

#: Names are cut at 200 characters by a worker (`describe.MOST_TEXT`), and some stand in a sentence.
Name = Annotated[str, Field(max_length=300)]
_Text = Annotated[str, Field(max_length=8000)]
Size = Annotated[int, Field(ge=0, le=2**62)]


def _must_fit(number: bool | int | float) -> bool | int | float:
    """Refuse a whole number that no worker sends."""
    if isinstance(number, int) and number.bit_length() > MOST_BITS:
        raise ValueError(f"a whole number of {number.bit_length()} bits; {MOST_BITS} are allowed")
    return number


_Number = Annotated[StrictBool | StrictInt | StrictFloat, AfterValidator(_must_fit)]
_Word = Annotated[str, Field(strict=True, max_length=MOST_TEXT)]
_NO_TENSORS: Mapping[str, torch.Tensor] = MappingProxyType({})


class Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Node(Record):
    """Description of one returned value; its data, when sent, is a tensor of the frame."""

    kind: Literal["tensor", "sequence", "other"]
    #: Class name; empty for a tensor.
    type: Name = ""
    #: Text of a plain value (`None`, a number, a string).
    text: _Text | None = None
    #: The plain value itself, where it is a number, a word or, in a sequence, a sequence of numbers. See `plain`.
    value: _Number | _Word | Annotated[tuple[_Number, ...], Field(max_length=MOST_ITEMS)] | None = None
    dtype: Name = ""
    shape: Annotated[tuple[Size, ...], Field(max_length=MOST_AXES)] | None = None
    #: Why a tensor is not an ordinary one in memory.
    oddity: Name = ""
    data: Name | None = None
    length: Size = 0
    #: Those of the outermost sequence; what lies deeper is not described.
    items: Annotated[tuple["Node", ...], Field(max_length=MOST_ITEMS)] = ()

    @property
    def values(self) -> tuple["Node", ...]:
        """What was returned: the items of a sequence, or the one value that is none."""
        return self.items if self.kind == "sequence" else (self,)


class Line(Record):
    """A line of the student's own code that an exception passed."""

    file: Name
    line: Size | None
    function: Name
    text: _Text


class Returned(Record):
    status: Literal["returned"]
    tree: Node
    #: Attributes of the module that the task asks for, in its order.
    kept: Annotated[tuple[Node, ...], Field(max_length=8)] = ()
    #: Arguments the call changed, by the worker's own word.
    changed: Annotated[tuple[Name, ...], Field(max_length=100)]
    dropped: Size = 0

    @property
    def values(self) -> tuple[Node, ...]:
        """What was returned, then what was kept."""
        return (*self.tree.values, *self.kept)


class Raised(Record):
    status: Literal["raised"]
    stage: Literal["import", "build", "forward", "result", "backward"]
    type: Name
    #: Names of the exception's class and of the classes above it.
    bases: Annotated[tuple[Name, ...], Field(max_length=8)]
    message: _Text
    frames: Annotated[tuple[Line, ...], Field(max_length=8)]
    #: Modules of the submission whose import failed, the cause first.
    failed: Annotated[tuple[Name, ...], Field(max_length=200)] = ()
    dropped: Size = 0

    @property
    def is_out_of_memory(self) -> bool:
        """Python says `MemoryError`; torch's allocator a `RuntimeError` with a text of its own."""
        return "MemoryError" in self.bases or "DefaultCPUAllocator" in self.message

    @property
    def is_unfilled(self) -> bool:
        """Whether it is a stub's own `raise`, or a module without `forward`.

        Torch raises `NotImplementedError` too: for an operation that a dtype does not have, from a line that says
        nothing of it.
        """
        return self.type == "NotImplementedError" and (not self.frames or self.type in self.frames[-1].text)


class Forbidden(Record):
    """What was asked for made a call that the assignment forbids."""

    status: Literal["forbidden"]
    stage: Literal["import", "build", "forward", "result", "backward"]
    #: Dotted name of what was called.
    name: Name
    #: The student's own line that led to it, where one did.
    line: Line | None
    #: Modules of the submission whose import failed, the cause first.
    failed: Annotated[tuple[Name, ...], Field(max_length=200)] = ()
    dropped: Size = 0


class MissingName(Record):
    status: Literal["missing_name"]
    names: Annotated[tuple[Name, ...], Field(max_length=200)]
    dropped: Size = 0


class WrongParameters(Record):
    status: Literal["wrong_parameters"]
    type: Name
    #: Shapes by name; None when what was built is no module.
    observed: Annotated[dict[Name, tuple[Size, ...]], Field(max_length=1000)] | None
    dropped: Size = 0


class Gradients(Record):
    status: Literal["gradients"]
    #: Inputs and parameters that no gradient reached.
    missing: Annotated[tuple[Name, ...], Field(max_length=1000)]
    dropped: Size = 0


class Loaded(Record):
    status: Literal["loaded"]
    names: Annotated[tuple[Name, ...], Field(max_length=200)]
    dropped: Size = 0


class Sign(Record):
    """Something in the text of a submission that a person should look at."""

    kind: Name
    file: Name
    line: Annotated[int, Field(ge=1)]
    detail: Name


class Absent(Record):
    """An import that a submission was graded without."""

    file: Name
    line: Annotated[int, Field(ge=1)]
    package: Name
    reason: Literal["not installed", "not allowed"]


class Scanned(Record):
    """What the text of a submission says, read before any of its code has run."""

    status: Literal["scanned"] = "scanned"
    findings: Annotated[tuple[Sign, ...], Field(max_length=100)] = ()
    absent: Annotated[tuple[Absent, ...], Field(max_length=100)] = ()
    dropped: Size = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedOut:
    """No answer within the limit; the worker was killed."""

    stage: str
    limit_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Died:
    """The worker ended before it answered."""

    stage: str
    #: Exit code; negative: the number of the signal that ended it; None: unknown.
    exit_code: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Garbled:
    """What the worker sent is not an answer; it was killed."""

    stage: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAsked:
    """The call was not made: earlier ones used up the time."""

    reason: str


Failed = Raised | Forbidden | MissingName | WrongParameters | TimedOut | Died | Garbled | NotAsked


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The answer to one call."""

    reply: Returned | Failed
    tensors: Mapping[str, torch.Tensor] = field(default_factory=lambda: _NO_TENSORS)
    #: How the backward pass ended; None when it was not asked for.
    backward: Gradients | Failed | None = None
    #: By name, `arg.query` or `param.q_proj.weight`.
    gradients: Mapping[str, torch.Tensor] = field(default_factory=lambda: _NO_TENSORS)
    #: What the student's code printed during the call.
    printed: str = ""
    is_printed_cut: bool = False


def is_differentiable(outcome: Outcome, upstream: torch.Tensor) -> bool:
    """Whether the first returned value is a floating tensor of the upstream gradient's shape."""
    if not isinstance(outcome.reply, Returned):
        return False
    tree = outcome.reply.tree
    root = (*tree.values, tree)[0]
    return root.kind == "tensor" and root.shape == tuple(upstream.shape) and root.dtype.startswith(("float", "bfloat"))


def in_words(tree: Node) -> str:
    """What a returned value is, for a message."""
    if tree.kind == "tensor":
        return tree.oddity or f"one tensor {list(tree.shape or ())}"
    if tree.kind == "sequence":
        return (
            f"a {tree.type} of {tree.length}: {', '.join(in_words(item) for item in tree.items)}"
            if tree.items
            else f"an empty {tree.type}"
        )
    return (
        tree.text
        if tree.text is not None and tree.type == "NoneType"
        else f"{tree.type} {tree.text}"
        if tree.text is not None
        else f"an object of the class {tree.type}"
    )


#: What each question can be answered with.
CallReply = Returned | Raised | Forbidden | MissingName | WrongParameters
BackwardReply = Gradients | Raised | Forbidden
LoadReply = Loaded | Raised | Forbidden
Reply = CallReply | BackwardReply | LoadReply | Scanned
_REPLIES: TypeAdapter[Reply] = TypeAdapter(Annotated[Reply, Field(discriminator="status")])


def read_reply(frame: Frame) -> Reply:
    """The reply in a frame.

    Raises:
        ProtocolError: the header is not a reply, or a tensor is not what its description says.
    """
    try:
        reply = _REPLIES.validate_python(frame.header)
    except ValidationError as error:
        raise first_fault(error) from None
    for name, tensor in frame.tensors.items():
        if tensor.dtype not in SENDABLE:
            raise ProtocolError(f"tensor {name!r} is of dtype {tensor.dtype}, which no answer has")
        if tensor.ndim > MOST_AXES:
            raise ProtocolError(f"tensor {name!r} has {tensor.ndim} axes; {MOST_AXES} are allowed")
    if isinstance(reply, Returned):
        must_match(reply.tree, frame.tensors, reply.kept)
    elif frame.tensors and not isinstance(reply, Gradients):
        raise ProtocolError(f"a reply of status {reply.status} came with tensors")
    return reply


def first_fault(error: ValidationError) -> ProtocolError:
    """What does not fit, first."""
    first = error.errors(include_url=False, include_input=False)[0]
    return ProtocolError(f"reply, {'.'.join(map(str, first['loc']))}: {first['msg']}")


def read_call(frame: Frame) -> CallReply:
    """The reply to a call. Raises ProtocolError, as `read_reply` does, and where it answers another question."""
    reply = read_reply(frame)
    return reply if isinstance(reply, CallReply) else _answers_another(reply)


def read_backward(frame: Frame) -> BackwardReply:
    """The reply to a request for gradients. Raises as `read_call` does."""
    reply = read_reply(frame)
    return reply if isinstance(reply, BackwardReply) else _answers_another(reply)


def read_load(frame: Frame) -> LoadReply:
    """The reply to an import. Raises as `read_call` does."""
    reply = read_reply(frame)
    return reply if isinstance(reply, LoadReply) else _answers_another(reply)


def read_scan(frame: Frame) -> Scanned:
    """The reply to a scan. Raises as `read_call` does."""
    reply = read_reply(frame)
    return reply if isinstance(reply, Scanned) else _answers_another(reply)


def _answers_another(reply: Reply) -> NoReturn:
    raise ProtocolError(f"a reply of status {reply.status}, which answers another question")


def read_batch(frame: Frame, count: int) -> list[Frame]:
    """The replies of a batch, each with its own tensors, not yet read.

    Raises:
        ProtocolError: they are not a list of `count` objects, or a tensor belongs to none of them.
    """
    replies = frame.header.get("replies")
    if not isinstance(replies, list) or len(replies) != count or not all(isinstance(one, dict) for one in replies):
        raise ProtocolError(f"a batch of {count} calls was not answered with as many replies")
    tensors: dict[str, dict[str, torch.Tensor]] = {str(number): {} for number in range(count)}
    for key, tensor in frame.tensors.items():
        number, _, name = key.partition("/")
        if number not in tensors:
            raise ProtocolError(f"tensor {key[:50]!r} belongs to no reply")
        tensors[number][name] = tensor
    return [Frame(reply, own) for reply, own in zip(replies, tensors.values(), strict=True)]


def must_match(tree: Node, tensors: Mapping[str, torch.Tensor], kept: tuple[Node, ...] = ()) -> None:
    """Raises ProtocolError where tensors are not those that a description speaks of."""
    if any(item.items for item in (*tree.items, *kept)):
        raise ProtocolError("a value is described deeper than a task can ask for")
    nodes = [node for node in (tree, *tree.items, *kept) if node.data is not None]
    for node in nodes:
        tensor = tensors.get(node.data or "")
        if tensor is None or tuple(tensor.shape) != node.shape or str(tensor.dtype) != f"torch.{node.dtype}":
            raise ProtocolError(f"tensor {node.data!r} is not what its description says")
    if len(tensors) != len({node.data for node in nodes}):
        raise ProtocolError("there are tensors that no description speaks of")
