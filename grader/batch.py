"""Questions put together, to save the way there and back for each.

All students of a run are asked the same questions, so the frames are made once, from what was asked in the rehearsal.
A batch is only ever a short cut: when anything in it goes wrong, its questions are put one by one instead.
"""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from grader.call import Call
from grader.question import Question
from grader.worker import wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Questions about one part, all from visible checks or all from hidden ones."""

    part: str
    is_visible: bool
    questions: tuple[Question, ...]
    #: The request for all forward passes.
    frame: bytes
    #: The request for the backward passes, sent once the forward values have arrived; empty when none is wanted.
    upstream_frame: bytes


def make_batches(questions: Iterable[Question]) -> tuple[Batch, ...]:
    """Group questions by kind of check and part, in their order.

    The modules that a batch builds have handles below 0, so that no later call meets them.
    """
    handles = itertools.count(-1, -1)
    groups: dict[tuple[bool, str], list[Question]] = {}
    for question in questions:
        groups.setdefault((question.is_visible, question.call.part), []).append(question)
    return tuple(_batch(part, is_visible, group, handles) for (is_visible, part), group in groups.items())


def _batch(part: str, is_visible: bool, questions: list[Question], handles: Iterator[int]) -> Batch:
    calls = [_with_handle(question.call, next(handles)) for question in questions]
    tensors = {
        f"{number}/{name}": tensor for number, call in enumerate(calls) for name, tensor in call.payload.tensors.items()
    }
    upstreams = {
        str(number): question.upstream for number, question in enumerate(questions) if question.upstream is not None
    }
    return Batch(
        part=part,
        is_visible=is_visible,
        questions=tuple(questions),
        frame=wire.encode({"op": "batch", "calls": [call.header() for call in calls]}, tensors),
        upstream_frame=wire.encode({"op": "batch_gradient"}, upstreams) if upstreams else b"",
    )


def _with_handle(call: Call, handle: int) -> Call:
    return replace(call, build=call.build and replace(call.build, handle=handle))
