"""A call, as it is recorded: all of it, so that it can be made again."""

from typing import Any

from grader.call import Build, Call, Payload
from grader.handout.tensors import Tensors
from grader.record import Record


class RecordedCall(Record):
    """A call whose tensors are kept under names."""

    part: str
    name: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    build: dict[str, Any] | None
    dtype: str
    wants: tuple[str, ...]
    mode: str
    seed: int
    keeps: tuple[str, ...]
    reads: tuple[str, ...]
    is_random: bool
    inputs: dict[str, str]
    """Names of the tensors among the arguments."""
    parameters: dict[str, str]
    """Names of a module's parameters."""


def to_record(call: Call, tensors: Tensors) -> RecordedCall:
    """Write a call down, keeping its tensors."""
    build = call.build
    return RecordedCall(
        part=call.part,
        name=call.name,
        arguments=call.arguments,
        keywords=dict(call.keywords),
        build=None
        if build is None
        else {
            "arguments": dict(build.arguments),
            "double": build.is_double,
            "strict": build.is_strict,
            "without_spare_biases": build.is_without_spare_biases,
            "by_structure": build.is_by_structure,
        },
        dtype=call.dtype,
        wants=call.wants,
        mode=call.mode,
        seed=call.seed,
        keeps=call.keeps,
        reads=call.reads,
        is_random=call.is_random,
        inputs=tensors.put_all(call.payload.arguments),
        parameters=tensors.put_all(call.payload.parameters),
    )


def to_call(record: RecordedCall, tensors: Tensors, handle: int) -> Call:
    """The call again; a module it builds has the handle."""
    build = record.build
    return Call(
        part=record.part,
        name=record.name,
        arguments=record.arguments,
        keywords=record.keywords,
        build=None
        if build is None
        else Build(
            arguments=build["arguments"],
            handle=handle,
            is_double=build["double"],
            is_strict=build["strict"],
            is_without_spare_biases=build["without_spare_biases"],
            is_by_structure=build["by_structure"],
        ),
        dtype=record.dtype,
        wants=record.wants,
        mode=record.mode,
        seed=record.seed,
        keeps=record.keeps,
        reads=record.reads,
        is_random=record.is_random,
        payload=Payload(tensors.get_all(record.inputs), tensors.get_all(record.parameters)),
    )
