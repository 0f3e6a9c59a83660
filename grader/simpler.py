"""Ways to make a call simpler: fewer arguments, smaller sizes, rounder numbers. Nothing here asks anybody.

Each function lists calls, the simplest first; which still fails is for `shrink` to find out. Same call, same list.
"""

import itertools
import math
from collections.abc import Callable as Function
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from grader.assignment import Callable
from grader.call import Call, Payload
from grader.resize import Shape, ShapesOfParameters, is_order, resized, sizes_of, tiled

#: Lengths that are tried of these axes, and of any other.
_LENGTHS = {"batch": (1, 2), "query": (1, 2, 3), "key": (1, 2, 3)}
_OTHER_LENGTHS = (1, 2)
#: Elements of the payload that are set to zero one by one, if there are no more.
_MOST_ELEMENTS = 16
#: Name under which the upstream gradient stands among a call's numbers.
_UPSTREAM = "upstream"

Pattern = Function[[Shape], torch.Tensor]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A call to be tried."""

    call: Call
    #: Upstream gradient, fitted to the output's shape when it is asked; None: forward pass only.
    upstream: torch.Tensor | None = None

    @property
    def numbers(self) -> dict[str, torch.Tensor]:
        """Every floating tensor of it by a name of its own."""
        floating = {name: one for name, one in self.call.payload.tensors.items() if one.is_floating_point()}
        return floating | ({} if self.upstream is None else {_UPSTREAM: self.upstream})

    def with_numbers(self, numbers: Mapping[str, torch.Tensor]) -> "Trial":
        """The same with other numbers, shapes as before."""
        payload = self.call.payload
        arguments = {name: numbers.get(f"arg.{name}", tensor) for name, tensor in payload.arguments.items()}
        parameters = {name: numbers.get(f"param.{name}", tensor) for name, tensor in payload.parameters.items()}
        call = replace(self.call, payload=Payload(arguments, parameters))
        return replace(self, call=call, upstream=numbers.get(_UPSTREAM, self.upstream))


# --- fewer arguments ----------------------------------------------------------------------------------------------


def without_options(trial: Trial, about: Callable) -> list[Trial]:
    """With one argument less: None in its place, or left out where it was passed by name."""
    call = trial.call
    fewer = []
    for position, value in enumerate(call.arguments):
        if isinstance(value, dict) or value is True:
            arguments: list[Any] = list(call.arguments)
            arguments[position] = None if isinstance(value, dict) else False
            while arguments and (arguments[-1] is None or arguments[-1] is False):
                arguments.pop()
            fewer.append(replace(call, arguments=tuple(arguments)))
    for name in call.keywords:
        if name not in about.sizes:
            keywords = {other: kept for other, kept in call.keywords.items() if other != name}
            fewer.append(replace(call, keywords=keywords))
    return [replace(trial, call=_without_unused(one)) for one in fewer]


def _without_unused(call: Call) -> Call:
    used = {value["tensor"] for value in (*call.arguments, *call.keywords.values()) if isinstance(value, dict)}
    tensors = {name: tensor for name, tensor in call.payload.arguments.items() if name in used}
    wants = tuple(name for name in call.wants if name in used)
    return replace(call, payload=Payload(tensors, call.payload.parameters), wants=wants)


# --- smaller sizes ------------------------------------------------------------------------------------------------


def one_position(trial: Trial, about: Callable, shapes: ShapesOfParameters, axis: str) -> list[Trial]:
    """One sample, or one query, of several."""
    sizes = sizes_of(trial.call, about) or {}
    found = []
    for position in range(sizes.get(axis, 1) if sizes.get(axis, 1) > 1 else 0):
        turned = _rolled(trial.call, about, axis, position)
        found += _resized(replace(trial, call=turned), about, {axis: 1}, shapes)
    return found


def least_counts(trial: Trial) -> list[Trial]:
    """With ones in every tensor of whole numbers: lengths of 1 leave most of a sequence to padding."""
    arguments = trial.call.payload.arguments
    counts = {
        name: torch.ones_like(tensor)
        for name, tensor in arguments.items()
        if not tensor.is_floating_point() and tensor.dtype != torch.bool and not is_order(tensor)
    }
    payload = Payload(arguments | counts, trial.call.payload.parameters)
    return [replace(trial, call=replace(trial.call, payload=payload))] if counts else []


def smaller(
    trial: Trial, about: Callable, parameters: ShapesOfParameters, *, is_apart: bool = False
) -> Iterator[Trial]:
    """All small sizes together, those first that make the fewest numbers.

    With `is_apart`, those first in which the axes of returned values differ most: a shape then says which they are.
    """

    def rank(chosen: Mapping[str, int]) -> tuple[int, ...]:
        lengths = _with_wholes(chosen, about)
        shapes = [[lengths.get(axis, 1) for axis in about.lengths.get(name, ())] for name in about.returns]
        equal = sum(len(shape) - len(set(shape)) for shape in shapes) if is_apart else 0
        return equal, _count(chosen, about), *chosen.values()

    sizes = sizes_of(trial.call, about) or {}
    free = [axis for axis in sizes if axis not in about.splits]
    lengths = [[one for one in _LENGTHS.get(axis, _OTHER_LENGTHS) if one <= sizes[axis]] for axis in free]
    combinations = [dict(zip(free, chosen, strict=True)) for chosen in itertools.product(*lengths)]
    for chosen in sorted(combinations, key=rank):
        if any(chosen[axis] != sizes[axis] for axis in free):
            yield from _resized(trial, about, chosen, parameters)


def smaller_by_axis(trial: Trial, about: Callable, shapes: ShapesOfParameters) -> list[Trial]:
    """One axis smaller, the others as they are."""
    sizes = sizes_of(trial.call, about) or {}
    found = []
    for axis in (axis for axis in sizes if axis not in about.splits):
        lengths = {*_LENGTHS.get(axis, _OTHER_LENGTHS), sizes[axis] - 1}
        for length in sorted(one for one in lengths if 0 < one < sizes[axis]):
            found += _resized(trial, about, {axis: length}, shapes)
    return found


def _resized(trial: Trial, about: Callable, sizes: Mapping[str, int], shapes: ShapesOfParameters) -> list[Trial]:
    call = resized(trial.call, about, sizes, lambda name, shape, old: tiled(old, shape), shapes)
    return [] if call is None else [replace(trial, call=call)]


def _rolled(call: Call, about: Callable, axis: str, position: int) -> Call:
    """The call with one position of an axis in the first place, in every tensor that has the axis."""
    tensors = dict(call.payload.arguments)
    for name, tensor in tensors.items():
        names = about.lengths.get(name, ())[-tensor.ndim :]
        if axis in names:
            tensors[name] = tensor.roll(-position, names.index(axis))
    return replace(call, payload=Payload(tensors, call.payload.parameters))


def _with_wholes(sizes: Mapping[str, int], about: Callable) -> dict[str, int]:
    """With the axes that are made of others."""
    wholes = {whole: math.prod(sizes.get(part, 1) for part in parts) for whole, parts in about.splits.items()}
    return dict(sizes) | wholes


def _count(sizes: Mapping[str, int], about: Callable) -> int:
    """Numbers in all arguments and returned values."""
    lengths = _with_wholes(sizes, about)
    return sum(math.prod(lengths.get(axis, 1) for axis in axes) for axes in about.lengths.values())


# --- rounder numbers ----------------------------------------------------------------------------------------------


def _ones(shape: Shape) -> torch.Tensor:
    return torch.ones(shape, dtype=torch.float64)


def _identity(shape: Shape) -> torch.Tensor:
    """1 where the last two indices are equal: the unit vectors in turn."""
    if len(shape) < 2:
        return _ones(shape)
    rows = torch.arange(shape[-2])[:, None] % shape[-1]
    return (rows == torch.arange(shape[-1])).double().expand(shape).contiguous()


def _counting(shape: Shape) -> torch.Tensor:
    return torch.arange(1, math.prod(shape) + 1, dtype=torch.float64).reshape(shape)


def _mixed(shape: Shape) -> torch.Tensor:
    """1, 2, -1, 0, 3, -2 and so on."""
    return tiled(torch.tensor([1.0, 2, -1, 0, 3, -2], dtype=torch.float64), (math.prod(shape),)).reshape(shape)


#: What the first, second, third floating argument is made of.
_ARGUMENTS: tuple[tuple[Pattern, Pattern, Pattern], ...] = (
    (_ones, _counting, _counting),
    (_ones, _identity, _counting),
    (_identity, _counting, _counting),
    (_counting, _identity, _counting),
    (_mixed, _counting, _counting),
    (_counting, _mixed, _counting),
    (_mixed, _identity, _mixed),
)
_ROUNDINGS: tuple[Function[[torch.Tensor], torch.Tensor], ...] = (
    lambda tensor: _one_digit(tensor, 1.0),
    torch.round,
    lambda tensor: _one_digit(tensor, 0.0),
    lambda tensor: torch.round(tensor, decimals=1),
)


def rounder(trial: Trial) -> Iterator[Trial]:
    """Small whole numbers for arguments, with parameters that do nothing; then with one that does something.

    If none of these, what was there, rounded: arguments alone, parameters alone.
    """
    arguments, parameters = _plain_arguments(trial), _plain_parameters(trial)
    for numbers in parameters[:1] or [{}]:
        yield from (trial.with_numbers(numbers | chosen) for chosen in arguments)
    for numbers in parameters[1:]:
        yield from (trial.with_numbers(numbers | chosen) for chosen in arguments[:2])
    given = {name: one for name, one in trial.numbers.items() if not _is_parameter(name)}
    for some in (*parameters[:1], {}):
        for rounding in _ROUNDINGS:
            yield trial.with_numbers(some | {name: rounding(one) for name, one in given.items()})


def _plain_parameters(trial: Trial) -> list[dict[str, torch.Tensor]]:
    """Weights that are the identity and biases of zeros; all but one; and none of the weights."""
    parameters = {name: one for name, one in trial.numbers.items() if _is_parameter(name)}
    if not parameters:
        return []
    plain = {name: _plain(one) for name, one in parameters.items()}
    others = [plain | {name: _counting(tuple(one.shape))} for name, one in parameters.items()]
    counted = {name: _counting(tuple(one.shape)) if one.ndim > 1 else plain[name] for name, one in parameters.items()}
    return [plain, *others, counted]


def _plain_arguments(trial: Trial) -> list[dict[str, torch.Tensor]]:
    """Small whole numbers in every floating argument, and in the upstream gradient."""
    given = {name: one for name, one in trial.numbers.items() if not _is_parameter(name)}
    masks = {name: one for name, one in given.items() if "mask" in name}
    others = [name for name in given if name not in masks]
    blank = {name: torch.where(one.isinf(), one, 0.0) for name, one in masks.items()}
    whole = {name: torch.round(one) for name, one in masks.items()}
    rows = [
        {
            name: (_counting if name == _UPSTREAM else row[position % 3])(tuple(given[name].shape))
            for position, name in enumerate(others)
        }
        for row in (_ARGUMENTS if others else _ARGUMENTS[:1])
    ]
    return [row | chosen for row in rows for chosen in ([blank, whole] if masks else [{}])] if given else []


def _is_parameter(name: str) -> bool:
    return name.startswith("param.")


def _plain(parameter: torch.Tensor) -> torch.Tensor:
    return _identity(tuple(parameter.shape)) if parameter.ndim > 1 else torch.zeros_like(parameter)


def is_plain(parameter: torch.Tensor) -> bool:
    """Whether a module's parameter does nothing: a weight that is the identity, a bias of zeros."""
    return torch.equal(parameter, _plain(parameter))


def _one_digit(tensor: torch.Tensor, least: float) -> torch.Tensor:
    """The first digit of each number and zeros, but no digit of less than `least`."""
    unit = torch.pow(10.0, torch.floor(torch.log10(tensor.abs().clamp(min=1e-12)))).clamp(min=least)
    return torch.where(tensor.isfinite(), torch.round(tensor / unit) * unit, tensor)


def zeroed(trial: Trial) -> list[tuple[str, int]]:
    """The elements, by name and position, that may be tried as zeros; none when they are many."""
    places = [
        (name, position)
        for name, tensor in trial.numbers.items()
        if not name.startswith("param.") and "mask" not in name
        for position, element in enumerate(tensor.flatten().tolist())
        if element not in (0, math.inf, -math.inf)
    ]
    return places if len(places) <= _MOST_ELEMENTS else []


def with_zeros(trial: Trial, places: Sequence[tuple[str, int]]) -> Trial:
    """The call with zeros in these places."""
    numbers = {name: tensor.clone() for name, tensor in trial.numbers.items()}
    for name, position in places:
        numbers[name].view(-1)[position] = 0.0
    return trial.with_numbers(numbers)
