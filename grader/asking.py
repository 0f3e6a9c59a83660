"""Putting a check's question: which call it is, who is asked, and once more in float32 where only the dtype failed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from grader.answer import Answer
from grader.call import Argument, Build, Call
from grader.examination import Examination
from grader.failure import NoFile, NotRaised
from grader.oracle import Expected
from grader.outcome import Outcome, Raised, Returned, WrongParameters
from grader.unanswered import asked, fail, fail_unanswered
from grader.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Whom a check asks."""

    part: str
    name: str


def ask(examination: Examination, call: Call, after: Call | None = None) -> Answer:
    """Put a question. `after`: the call that must have reached the same object before this one."""
    _must_have_file(examination, call)
    if after:  # its outcome may have been known from another object
        _put(examination, after, is_new=True)
    outcome, expected = _put(examination, call, is_new=after is not None)
    if call.dtype == "float64" and _is_dtype_trouble(outcome):
        single = _in_float32(examination, call)
        again, _ = _put(examination, single, is_new=after is not None, upstream=expected.upstream)
        if isinstance(again.reply, Returned) and not _is_dtype_trouble(again, "float32"):
            return Answer(examination, call, single, again, expected)
    return Answer(examination, call, call, outcome, expected)


def _put(
    examination: Examination, call: Call, *, is_new: bool, upstream: torch.Tensor | None = None
) -> tuple[Outcome, Expected]:
    expected = examination.oracle.expected(call)
    known = None if is_new else examination.known(call)
    if known:
        return known, expected
    upstream = expected.upstream if upstream is None else upstream.to(getattr(torch, call.dtype))
    return examination.ask(call, upstream), expected


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
) -> Call:
    """The call; `wants=None` asks for the gradients of every floating tensor that is not a mask."""
    names = examination.assignment.callable(target.part, target.name).arguments
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
        build=build,
        dtype=dtype,
        payload=examination.inputs.payload(tensors, parameters or {}),
        wants=wants,
        mode=mode,
    )


def _argument(name: str, value: Any, tensors: dict[str, torch.Tensor]) -> Argument:
    if not isinstance(value, torch.Tensor):
        return value  # type: ignore[no-any-return]
    for known, tensor in tensors.items():
        if tensor is value:
            return {"tensor": known}
    tensors[name] = value
    return {"tensor": name}


def _in_float32(examination: Examination, call: Call) -> Call:
    """The same question in float32, to a module of its own."""
    payload = examination.inputs.payload(_single(call.payload.arguments), _single(call.payload.parameters))
    build = call.build and replace(call.build, handle=-call.build.handle)
    return replace(call, payload=payload, dtype="float32", build=build)


def _single(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor.float() if tensor.is_floating_point() else tensor for name, tensor in tensors.items()}


def _is_dtype_trouble(outcome: Outcome, dtype: str = "float64") -> bool:
    """Whether asking in float32 could help: it raised, or a floating value is not of the inputs' dtype."""
    reply = outcome.reply
    if isinstance(outcome.backward, Raised):
        return True
    if isinstance(reply, Raised):
        return reply.stage in ("build", "forward", "result") and reply.type != "NotImplementedError"
    if not isinstance(reply, Returned):
        return False
    nodes = reply.tree.items if reply.tree.kind == "sequence" else (reply.tree,)
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
    reply = (examination.known(call) or examination.ask(call, None)).reply
    about = asked(examination, call)
    if isinstance(reply, Raised) and reply.stage != "import" and reply.type != "NotImplementedError":
        if error.__name__ in reply.bases:
            return
        fail(Verdict.NOT_RAISED, NotRaised(wanted=error.__name__, when=when, raised=reply), about)
    if isinstance(reply, (Returned, WrongParameters)):
        fail(Verdict.NOT_RAISED, NotRaised(wanted=error.__name__, when=when, raised=None), about)
    fail_unanswered(examination, call, reply, about)
