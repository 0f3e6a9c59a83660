"""A call that gave no value: the verdict it deserves, and whether another file of the submission is to blame."""

from collections.abc import Mapping
from typing import NoReturn

from grader.call import Argument, Call
from grader.examination import Examination
from grader.failure import Asked, BrokenNeighbour, CheckFailed, Fact, NoAnswer, verdict_of
from grader.messages import message
from grader.outcome import Failed, Forbidden, Gradients, Raised
from grader.verdict import Verdict


def fail(verdict: Verdict, fact: Fact, asked: Asked | None = None) -> NoReturn:
    """End the check with a verdict and its message."""
    raise CheckFailed(verdict, fact, message(fact, asked))


def fail_unanswered(
    examination: Examination,
    call: Call,
    failed: Failed | Gradients,
    about: Asked,
    *,
    is_backward: bool = False,
) -> NoReturn:
    """End the check with the verdict for a call that gave no value."""
    assert not isinstance(failed, Gradients)
    neighbour = _broken_neighbour(examination, call, failed)
    if neighbour:
        fail(Verdict.BLOCKED, neighbour, about)
    parameters = {name: tuple(value.shape) for name, value in call.payload.parameters.items()}
    if call.build is not None and call.reads:  # such a call sets none
        parameters = dict(examination.oracle.parameter_shapes(call.part, call.name, call.build.arguments))
    fact = NoAnswer(
        failed=failed,
        is_backward=is_backward,
        parameters=parameters,
        is_by_structure=call.build is not None and call.build.is_by_structure,
    )
    fail(verdict_of(failed), fact, about)


def asked(examination: Examination, call: Call) -> Asked:
    """How a call is shown: what was called, and the shapes that went in."""
    names = [_argument_text(argument) for argument in call.arguments]
    names += [f"{name}={_argument_text(argument)}" for name, argument in call.keywords.items()]
    made = f"({', '.join(f'{name}={value}' for name, value in call.build.arguments.items())})" if call.build else ""
    text = f"{call.name}{made}" + (f"({', '.join(names)})" if names or not call.build else "")
    shapes = [f"{name} {list(tensor.shape)}" for name, tensor in call.payload.arguments.items()]
    inputs = "  ".join([*shapes, _dtypes(call), f"seed {examination.inputs.seed}"]) if shapes else ""
    return Asked(text=text, inputs=inputs, file=examination.assignment.part(call.part).file, callable=call.name)


def _dtypes(call: Call) -> str:
    """The dtype of the floating inputs, and torch's default dtype where it is another."""
    floating = [str(tensor.dtype) for tensor in call.payload.arguments.values() if tensor.is_floating_point()]
    dtype = floating[0].removeprefix("torch.") if floating else call.dtype
    return dtype if dtype == call.dtype else f"{dtype} (torch's default dtype: {call.dtype})"


def _argument_text(argument: Argument) -> str:
    return argument["tensor"] if isinstance(argument, dict) else repr(argument)


def _broken_neighbour(examination: Examination, call: Call, failed: Failed) -> BrokenNeighbour | None:
    """The other file of the submission that is to blame, if one is."""
    own = examination.assignment.part(call.part).file
    if isinstance(failed, Forbidden):
        cause = f"{failed.failed[0]}.py" if failed.failed else own
        is_neighbour = failed.stage == "import" and cause != own and cause in examination.sources.texts
        return BrokenNeighbour(file=cause, is_missing=False, raised=failed) if is_neighbour else None
    if not isinstance(failed, Raised):
        return None
    others = [file for file in examination.assignment.files if file != own]
    if failed.stage == "import":
        return _broken_import(failed, own, others, examination.sources.texts)
    innermost = failed.frames[-1].file if failed.frames else own
    if failed.is_unfilled and innermost in others:
        return BrokenNeighbour(file=innermost, is_missing=False, raised=failed)
    return None


def _broken_import(failed: Raised, own: str, others: list[str], there: Mapping[str, str]) -> BrokenNeighbour | None:
    first = f"{failed.failed[0]}.py" if failed.failed else own
    if first != own and first in there:
        return BrokenNeighbour(file=first, is_missing=False, raised=failed)
    for file in others:
        if (
            file not in there
            and failed.type == "ModuleNotFoundError"
            and f"'{file.removesuffix('.py')}'" in failed.message
        ):
            return BrokenNeighbour(file=file, is_missing=True, raised=failed)
    return None
