"""Putting a check's question: which call it is, who is asked, and once more in float32 where only the dtype failed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from grader.answer import Answer
from grader.call import Argument, Build, Call
from grader.examination import Examination
from grader.failure import NoFile, NotRaised
from grader.outcome import Outcome, Raised, Returned, WrongParameters
from grader.question import Question
from grader.unanswered import asked, fail, fail_unanswered
from grader.verdict import Verdict

#: Added to the handle of a module for its twin in float32.
_SINGLE = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Whom a check asks."""

    part: str
    name: str


def ask(examination: Examination, call: Call, history: Sequence[Call] = ()) -> Answer:
    """Put a question. `history`: the calls that must have reached the same object before this one, oldest first."""
    _must_have_file(examination, call)
    expected = examination.oracle.expected(call)
    answered, outcome = observe(examination, examination.question(call, expected.upstream, history))
    return Answer(examination, call, answered, outcome, expected)


def observe(examination: Examination, question: Question) -> tuple[Call, Outcome]:
    """Put a question and note what came of it: the call as it was answered, perhaps in float32, and its outcome."""
    call, history, upstream = question.call, question.history, question.upstream
    answered, outcome = call, _put(examination, call, history, upstream)
    if call.dtype == "float64" and is_dtype_trouble(outcome):
        single = in_float32(examination, call)
        earlier = [in_float32(examination, one) for one in history]
        again = _put(examination, single, earlier, upstream if upstream is None else upstream.float())
        if isinstance(again.reply, Returned) and not is_dtype_trouble(again, "float32"):
            answered, outcome = single, again
    examination.note(question, outcome, answered.dtype)
    return answered, outcome


def _put(examination: Examination, call: Call, history: Sequence[Call], upstream: torch.Tensor | None) -> Outcome:
    """The outcome of a call; what is known of an equal one, unless the object must have a history."""
    if not history:
        return examination.ask_once(call, upstream)
    for earlier in history[examination.calls_that_reached(call) :]:  # the others may only have been looked up
        examination.ask(earlier, None)
    return examination.ask(call, upstream)


def make_call(
    examination: Examination,
    target: Target,
    arguments: tuple[Any, ...],
    keywords: Mapping[str, Any],
    *,
    wants: tuple[str, ...] | None = (),
    dtype: str = "float64",
    build: Build | None = None,
    parameters: Mapping[str, torch.Tensor] | None = None,
    mode: str = "eval",
    reads: tuple[str, ...] = (),
    is_random: bool = False,
) -> Call:
    """The call; `wants=None` asks for the gradients of every floating tensor that is not a mask."""
    about = examination.assignment.callable(target.part, target.name)
    names = about.arguments
    if len(arguments) > len(names):
        raise TypeError(
            f"{target.name} is given {len(arguments)} arguments; {examination.assignment.where} names {names}"
        )
    tensors: dict[str, torch.Tensor] = {}
    positional = tuple(_argument(name, value, tensors) for name, value in zip(names, arguments, strict=False))
    named = {name: _argument(name, value, tensors) for name, value in keywords.items()}
    if wants is None:
        wants = tuple(name for name, tensor in tensors.items() if tensor.is_floating_point() and "mask" not in name)
    return Call(
        part=target.part,
        name=target.name,
        arguments=positional,
        keywords=named,
        build=build
        and replace(
            build,
            is_by_structure=about.parameters == "by structure",
            is_without_spare_biases=about.spare_biases == "zero",
        ),
        dtype=dtype,
        payload=examination.inputs.payload(tensors, parameters or {}),
        wants=wants,
        mode=mode,
        keeps=about.keeps,
        reads=reads,
        is_random=is_random,
    )


def _argument(name: str, value: Any, tensors: dict[str, torch.Tensor]) -> Argument:
    if not isinstance(value, torch.Tensor):
        return value  # type: ignore[no-any-return]
    for known, tensor in tensors.items():
        if tensor is value:
            return {"tensor": known}
    tensors[name] = value
    return {"tensor": name}


def in_float32(examination: Examination, call: Call) -> Call:
    """The same question in float32, to a module of its own."""
    payload = examination.inputs.payload(_single(call.payload.arguments), _single(call.payload.parameters))
    single = replace(call, payload=payload, dtype="float32")
    return replace(single, build=call.build and replace(call.build, handle=call.build.handle + _SINGLE))


def _single(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor.float() if tensor.is_floating_point() else tensor for name, tensor in tensors.items()}


def is_dtype_trouble(outcome: Outcome, dtype: str = "float64") -> bool:
    """Whether asking in float32 could help: it raised, or a floating value is not of the inputs' dtype."""
    reply = outcome.reply
    if isinstance(outcome.backward, Raised):
        return True
    if isinstance(reply, Raised):
        return reply.stage in ("build", "forward", "result") and not reply.is_unfilled
    if not isinstance(reply, Returned):
        return False
    nodes = reply.values
    return any(node.kind == "tensor" and "float" in node.dtype and node.dtype != dtype for node in nodes)


def _must_have_file(examination: Examination, call: Call) -> None:
    file = examination.assignment.part(call.part).file
    sources = examination.sources
    if file in sources.texts:
        return
    reason = sources.unreadable.get(file, "")
    verdict = Verdict.IMPORT_ERROR if reason else Verdict.MISSING_FILE
    fail(verdict, NoFile(file=file, reason=reason, found=tuple(sources.texts)))


def must_raise(examination: Examination, call: Call, error: type[Exception], when: str) -> None:
    _must_have_file(examination, call)
    outcome = examination.ask_once(call, None)
    examination.note(examination.question(call, None), outcome, call.dtype)
    reply = outcome.reply
    about = asked(examination, call)
    if isinstance(reply, Raised) and error.__name__ not in reply.bases and is_dtype_trouble(outcome):
        again = examination.ask_once(in_float32(examination, call), None).reply
        reply = again if isinstance(again, Raised) and error.__name__ in again.bases else reply
    if isinstance(reply, Raised) and reply.stage != "import" and not reply.is_unfilled:
        if error.__name__ in reply.bases:
            return
        fail(Verdict.NOT_RAISED, NotRaised(wanted=error.__name__, when=when, raised=reply), about)
    if isinstance(reply, (Returned, WrongParameters)):
        fail(Verdict.NOT_RAISED, NotRaised(wanted=error.__name__, when=when, raised=None), about)
    fail_unanswered(examination, call, reply, about)
