"""The record of a small failing call: its numbers as text. Where it goes wrong, in words, is for `remark`."""

from collections.abc import Iterator, Mapping

import torch

from grader.assignment import Callable
from grader.examination import Examination
from grader.finding import Example, Matrix
from grader.oracle import Expected
from grader.remark import number_text, remark
from grader.simpler import is_plain
from grader.symptom import Found, values_of
from grader.unanswered import asked

#: Elements of one matrix that can be looked through by hand.
MOST_CELLS = 24


def example_of(examination: Examination, found: Found) -> Example | None:
    """The record; None when it is too large to be looked through, or when what differs does not show in it."""
    call = found.trial.call
    about = examination.assignment.callable(call.part, call.name)
    returned = values_of(examination.assignment, call, found.outcome)
    inputs = tuple(_inputs(found, about))
    expected, observed = _answers(found, about, returned)
    if any(len(matrix.cells) > MOST_CELLS for matrix in (*inputs, *expected, *observed)):
        return None
    if observed and _shown(observed) == _shown(expected):
        return None
    return Example(
        part=call.part,
        callable=call.name,
        call=asked(examination, call).text,
        inputs=inputs,
        expected=expected,
        observed=observed,
        remark=remark(found, about, returned),
    )


def _inputs(found: Found, about: Callable) -> Iterator[Matrix]:
    """Arguments, whole numbers among them, and the parameters of a module that do something."""
    call = found.trial.call
    for name, value in zip(about.arguments, call.arguments, strict=False):
        if isinstance(value, dict):
            if value["tensor"] == name:
                yield _matrix(name, call.payload.arguments[name], about)
        elif value is not None:
            yield Matrix(name=name, cells=(str(value),))
    for name, value in call.keywords.items():
        if isinstance(value, dict) and value["tensor"] == name:
            yield _matrix(name, call.payload.arguments[name], about)
    for name, parameter in call.payload.parameters.items():
        if not is_plain(parameter):
            yield _matrix(name, parameter, about)
    upstream = found.right.upstream if isinstance(found.right, Expected) else None
    if upstream is not None:
        output = about.returns[0]
        yield _matrix(f"upstream gradient of {output}", upstream, about, axes_of=output)


def _answers(
    found: Found, about: Callable, returned: Mapping[str, torch.Tensor]
) -> tuple[tuple[Matrix, ...], tuple[Matrix, ...]]:
    """Expected and observed: returned values, or gradients when it is these that are wrong."""
    right = found.right
    observed = tuple(_matrix(name, tensor, about) for name, tensor in returned.items())
    if not isinstance(right, Expected):
        return (), observed
    if found.trial.upstream is None:
        return tuple(_matrix(name, tensor, about) for name, tensor in right.values.items()), observed
    kind = found.symptom.kind
    names = found.symptom.gradients if kind in ("gradient", "no gradient") else tuple(right.gradients)
    gradients = found.outcome.gradients
    return (
        tuple(_gradient(name, right.gradients[name], about) for name in names),
        tuple(_gradient(name, gradients[name], about) for name in names if name in gradients),
    )


def _gradient(key: str, tensor: torch.Tensor, about: Callable) -> Matrix:
    name = key.partition(".")[2]
    return _matrix(f"gradient of {name}", tensor, about, axes_of=name)


def _matrix(name: str, tensor: torch.Tensor, about: Callable, axes_of: str = "") -> Matrix:
    axes = about.axes.get(axes_of or name, ())
    return Matrix(
        name=name,
        shape=tuple(tensor.shape),
        axes=axes[len(axes) - tensor.ndim :] if tensor.ndim <= len(axes) else (),
        cells=tuple(map(_cell, tensor.flatten()[: MOST_CELLS + 1].tolist())),
    )


def _cell(value: float) -> str:
    return str(value) if isinstance(value, bool) else number_text(float(value))


def _shown(matrices: tuple[Matrix, ...]) -> list[tuple[str, tuple[int, ...], tuple[str, ...]]]:
    return [(matrix.name, matrix.shape, matrix.cells) for matrix in matrices]
