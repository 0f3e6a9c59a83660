"""The same call with other sizes: how long each axis of a call is, and its tensors made anew for other lengths.

An assignment names the axes of its arguments; a call's tensors, whole-number arguments and build arguments then say how
long each axis is. Nothing here asks anybody.
"""

from collections.abc import Callable as Function
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch

from grader.assignment import Callable
from grader.call import Call, Payload
from grader.oracle import OracleError

Shape = tuple[int, ...]
#: Makes a tensor of a new shape: from its name, that shape, and what stood in its place.
Draw = Function[[str, Shape, torch.Tensor], torch.Tensor]
#: Names and shapes of a module's parameters, by the arguments it is built with.
ShapesOfParameters = Function[[Mapping[str, Any]], Mapping[str, Shape]]


def sizes_of(call: Call, about: Callable) -> dict[str, int] | None:
    """Length of each axis that the call says anything of; None when two places contradict each other.

    A tensor's axis of length 1 is broadcast where the axis is longer elsewhere.
    """
    if not _has_known_axes(call, about):
        return None
    found: dict[str, set[int]] = {}
    for axis, length in _lengths(call, about):
        found.setdefault(axis, set()).update({length} - {1})
    for axis, length in _whole_numbers(call, about):
        found.setdefault(axis, set()).add(length)
    if any(len(lengths) > 1 or not min(lengths, default=1) for lengths in found.values()):
        return None
    return _completed({axis: min(lengths, default=1) for axis, lengths in found.items()}, about)


def contradictions(call: Call, about: Callable, returned: Mapping[str, Shape]) -> Iterator[str]:
    """Axes that have several lengths in a call, in words, and tensors with more axes than are named.

    `returned`: shapes of the values that the call gives, by name. An axis of length 1 is broadcast.
    """
    tensors = [
        (argument, tuple(call.payload.arguments[name].shape))
        for name, arguments in _uses(call, about).items()
        for argument in arguments
    ]
    found: dict[str, dict[int, str]] = {}
    for name, shape in (*tensors, *returned.items()):
        axes = about.lengths.get(name)
        if axes is not None and len(axes) < len(shape):
            yield f"{name} {list(shape)} has more axes than {list(axes)}"
            continue
        for axis, length in zip(reversed(axes or ()), reversed(shape), strict=False):
            if length != 1:
                found.setdefault(axis, {}).setdefault(length, name)
    for axis, length in _whole_numbers(call, about):
        found.setdefault(axis, {}).setdefault(length, "a whole number")
    for axis, lengths in found.items():
        if len(lengths) > 1:
            yield f"the axis {axis} is " + ", and ".join(f"{length} in {name}" for length, name in lengths.items())


def resized(
    call: Call,
    about: Callable,
    sizes: Mapping[str, int],
    draw: Draw,
    shapes_of_parameters: ShapesOfParameters,
    *,
    handle: int = 0,
) -> Call | None:
    """The same call with other sizes; None when it cannot be made.

    Boolean tensors are cut from the old ones, or repeat them, whole numbers that count along an axis stay between 1 and
    its length, and a permutation stays one. Whether a mask still leaves every query something is for the reference to
    say.

    Args:
        sizes: new lengths by axis; the others keep theirs. Where an axis is made of others, two of three settle it.
        draw: makes floating tensors and parameters; its result is converted to the dtype of the old one.
        shapes_of_parameters: the oracle's `parameter_shapes` of this callable.
        handle: of the new module; no two modules that one worker is asked for may share it.
    """
    old = sizes_of(call, about)
    new = None if old is None else _settled(old, sizes, about)
    if old is None or new is None:
        return None
    tensors = {}
    for name, arguments in _uses(call, about).items():
        tensor = call.payload.arguments[name]
        shapes = {_new_shape(tensor, about.lengths[argument], old, new) for argument in arguments}
        if len(shapes) > 1:  # one tensor in two places, which would need two shapes
            return None
        tensors[name] = _remade(name, shapes.pop(), tensor, about, new, draw)
    build = call.build and replace(
        call.build, handle=handle, arguments=_with_sizes(call.build.arguments, about.sizes, new)
    )
    parameters = _parameters(call, build.arguments, draw, shapes_of_parameters) if build else {}
    if parameters is None:
        return None
    positional = dict(zip(about.arguments, call.arguments, strict=False))
    return replace(
        call,
        arguments=tuple(_with_sizes(positional, about.sizes, new).values()),
        keywords=_with_sizes(call.keywords, about.sizes, new),
        payload=Payload(tensors, parameters),
        build=build,
    )


def tiled(tensor: torch.Tensor, shape: Shape) -> torch.Tensor:
    """The first elements along each axis, repeated where there are too few. The number of axes is kept."""
    for axis, length in enumerate(shape):
        tensor = tensor.index_select(axis, torch.arange(length) % tensor.shape[axis])
    return tensor


def is_order(tensor: torch.Tensor) -> bool:
    """Whether it lists each position once: a permutation, which whole numbers of another kind are not."""
    return tensor.ndim == 1 and tensor.numel() > 1 and torch.equal(tensor.sort().values, torch.arange(len(tensor)))


# --- reading sizes ------------------------------------------------------------------------------------------------


def _named(call: Call, about: Callable) -> dict[str, Any]:
    """All arguments by name."""
    return dict(zip(about.arguments, call.arguments, strict=False)) | dict(call.keywords)


def _uses(call: Call, about: Callable) -> dict[str, list[str]]:
    """The arguments that each of the call's tensors is handed over as: one tensor may be query, key and value."""
    uses: dict[str, list[str]] = {}
    for argument, value in _named(call, about).items():
        if isinstance(value, dict):
            uses.setdefault(value["tensor"], []).append(argument)
    return uses


def _has_known_axes(call: Call, about: Callable) -> bool:
    tensors = call.payload.arguments
    return all(
        argument in about.axes and 0 < tensors[name].ndim <= len(about.axes[argument]) and tensors[name].numel() > 0
        for name, arguments in _uses(call, about).items()
        for argument in arguments
    )


def _lengths(call: Call, about: Callable) -> Iterator[tuple[str, int]]:
    """Axis and its length, in each place of each tensor."""
    for name, arguments in _uses(call, about).items():
        shape = tuple(call.payload.arguments[name].shape)
        for argument in arguments:
            yield from zip(reversed(about.lengths[argument]), reversed(shape), strict=False)


def _whole_numbers(call: Call, about: Callable) -> Iterator[tuple[str, int]]:
    """Axis and its length, in the arguments that state one."""
    named = _named(call, about) | dict(call.build.arguments if call.build else {})
    for argument, axis in about.sizes.items():
        if _is_whole(named.get(argument)):
            yield axis, named[argument]


def _completed(sizes: dict[str, int], about: Callable) -> dict[str, int] | None:
    """With the one unknown axis of each split; None when a split does not come out even."""
    for whole, parts in about.splits.items():
        unknown = [axis for axis in (whole, *parts) if axis not in sizes]
        if len(unknown) > 1:
            continue
        known = _product(sizes[part] for part in parts if part in sizes)
        if not unknown:
            if known != sizes[whole]:
                return None
        elif unknown == [whole]:
            sizes[whole] = known
        elif not known or sizes[whole] % known:
            return None
        else:
            sizes[unknown[0]] = sizes[whole] // known
    return sizes


def _product(lengths: Iterator[int]) -> int:
    product = 1
    for length in lengths:
        product *= length
    return product


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# --- making anew --------------------------------------------------------------------------------------------------


def _settled(old: Mapping[str, int], wanted: Mapping[str, int], about: Callable) -> dict[str, int] | None:
    """All sizes, where some are to change; None when they cannot all hold."""
    if any(length < 1 for length in wanted.values()) or not wanted.keys() <= old.keys():
        return None
    sizes = dict(old) | dict(wanted)
    for whole, parts in about.splits.items():
        if not {whole, *parts} <= sizes.keys():
            continue
        if whole not in wanted:
            del sizes[whole]
        else:
            free = [part for part in parts if part not in wanted]
            if free:
                del sizes[free[-1]]
    return _completed(sizes, about)


def _new_shape(tensor: torch.Tensor, axes: tuple[str, ...], old: Mapping[str, int], new: Mapping[str, int]) -> Shape:
    """Its shape with the new sizes; an axis that was broadcast stays so."""
    names = axes[len(axes) - tensor.ndim :]
    return tuple(
        1 if length == 1 and old[name] != 1 else new[name] for name, length in zip(names, tensor.shape, strict=True)
    )


def _remade(
    name: str, shape: Shape, tensor: torch.Tensor, about: Callable, sizes: Mapping[str, int], draw: Draw
) -> torch.Tensor:
    if tensor.is_floating_point():
        return draw(name, shape, tensor).to(tensor.dtype)
    cut = tiled(tensor, shape)
    if tensor.dtype == torch.bool:
        return cut
    if is_order(tensor):
        return cut.argsort(stable=True).argsort()  # the same order, of fewer or of more
    counted = about.sizes.get(name.removesuffix("s"))  # `key_lengths` holds a `key_length` for each sample
    return cut if counted is None else cut.clamp(1, sizes[counted])


def _parameters(
    call: Call, arguments: Mapping[str, Any], draw: Draw, shapes_of_parameters: ShapesOfParameters
) -> dict[str, torch.Tensor] | None:
    old = call.payload.parameters
    if not old:
        return {}
    try:
        shapes = shapes_of_parameters(arguments)
    except (ValueError, OracleError):  # such a module is not to be built, or nobody knows how
        return None
    if not old.keys() <= shapes.keys():
        return None
    return {name: draw(name, tuple(shapes[name]), tensor).to(tensor.dtype) for name, tensor in old.items()}


def _with_sizes(arguments: Mapping[str, Any], axes: Mapping[str, str], sizes: Mapping[str, int]) -> dict[str, Any]:
    return {
        name: sizes[axes[name]] if name in axes and _is_whole(value) else value for name, value in arguments.items()
    }
