"""What a student's code returned, as a description in JSON and plain tensors.

Every value becomes one node: `tensor` (with its data under a key, when it can be sent), `sequence`, or `other`.
Unusual but honest tensors (views, expanded, conjugate) are made plain; what cannot be is named and not sent. Numbers,
words, and short sequences of numbers inside of another, are sent themselves.
"""

import sys
from collections.abc import Mapping
from typing import Any

import torch

#: Items of a sequence that are described; a task asks for two.
MOST_ITEMS = 8
#: Axes of a tensor that is described by its shape; a task asks for four.
MOST_AXES = 16
#: Bytes of one answer that are sent; more is described by its shape alone.
MOST_BYTES = 8 * 1024 * 1024
#: Characters of an exception's text.
MOST_MESSAGE = 4000
#: Characters of a plain value's text, and of a word that is sent.
MOST_TEXT = 200
#: Bits of a whole number that is sent, its sign apart: those of int64.
MOST_BITS = 63

#: Dtypes a reply may hold.
SENDABLE = {
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.bool,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
}
_PLAIN_TYPES = (torch.Tensor, torch.nn.Parameter)
_LITERALS = (type(None), bool, int, float, str, bytes)


def describe(value: object, tensors: dict[str, torch.Tensor], depth: int = 0) -> dict[str, Any]:
    """The node of `value`; tensors that can be sent are added to `tensors`.

    Returns:
        `{"kind": "tensor", "dtype", "shape", "data"?, "oddity"?}`, `{"kind": "sequence", "type", "length", "items"}`
        or `{"kind": "other", "type", "text"?, "value"?}`.
    """
    if isinstance(value, torch.Tensor):
        return _tensor(value, tensors)
    if isinstance(value, (tuple, list)) and depth == 0:
        items = [describe(item, tensors, depth + 1) for item in value[:MOST_ITEMS]]
        return {"kind": "sequence", "type": _class_name(type(value)), "length": len(value), "items": items}
    node: dict[str, Any] = {"kind": "other", "type": _class_name(type(value))}
    if type(value) in _LITERALS:
        node["text"] = _short(value)
    worth = _numbers(value) if isinstance(value, (tuple, list)) else _literal(value)
    return node if worth is None else node | {"value": worth}


def _literal(value: object) -> bool | int | float | str | None:
    """A number or a word itself; None where it is neither (as in a class of the student's own), or too large."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        value = value.item()
    if type(value) is int:
        return value if value.bit_length() <= MOST_BITS else None
    if type(value) is str and len(value) <= MOST_TEXT:
        is_text = value == value.encode(errors="ignore").decode()  # half of a surrogate is none
        return value if is_text else None
    return value if type(value) in (bool, float) else None  # type: ignore[return-value]


def _numbers(value: tuple[object, ...] | list[object]) -> list[bool | int | float] | None:
    """The numbers of a sequence; None where it holds anything else, or too many."""
    items = value[: MOST_ITEMS + 1]
    found = [one for item in items if (one := _literal(item)) is not None and not isinstance(one, str)]
    return found if len(found) == len(items) <= MOST_ITEMS else None


def gradients(names: list[str], found: tuple[torch.Tensor | None, ...]) -> tuple[list[str], dict[str, torch.Tensor]]:
    """Names that received no gradient, and the gradients of the others as plain tensors."""
    missing = [name for name, gradient in zip(names, found, strict=True) if gradient is None]
    return missing, {name: plain(gradient) for name, gradient in zip(names, found, strict=True) if gradient is not None}


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """A contiguous copy that shares no memory with anything."""
    return tensor.detach().resolve_conj().resolve_neg().contiguous().clone()


def parameters(module: torch.nn.Module) -> dict[str, list[int]]:
    """Shapes of a module's parameters by name; one that is shared appears once, under its first name."""
    return {name[:MOST_TEXT]: list(parameter.shape) for name, parameter in module.named_parameters()}


def _tensor(tensor: torch.Tensor, tensors: dict[str, torch.Tensor]) -> dict[str, Any]:
    if type(tensor) not in _PLAIN_TYPES:  # its attributes may run code of the student's: nothing else is asked of it
        oddity = f"an object of the class {_class_name(type(tensor))}, not a plain tensor"
        return {"kind": "tensor", "oddity": oddity, "shape": None}
    oddity = _oddity(tensor)
    node: dict[str, Any] = {"kind": "tensor", "dtype": str(tensor.dtype).removeprefix("torch.")}
    if oddity:
        return node | {"oddity": oddity, "shape": None}
    if tensor.ndim > MOST_AXES:
        return node | {"oddity": f"a tensor of {tensor.ndim} axes", "shape": None}
    node["shape"] = list(tensor.shape)
    if tensor.dtype in SENDABLE and sum(map(_size, tensors.values())) + _size(tensor) <= MOST_BYTES:
        node["data"] = str(len(tensors))
        tensors[node["data"]] = plain(tensor)
    return node


def _oddity(tensor: torch.Tensor) -> str:
    """Why a tensor is not an ordinary one in memory; empty when it is."""
    if tensor.is_nested:
        return "a nested tensor"
    if tensor.layout != torch.strided:
        return f"a tensor of layout {str(tensor.layout).removeprefix('torch.')}"
    if tensor.is_quantized:
        return "a quantized tensor"
    if tensor.device.type != "cpu":
        return f"a tensor on the device {tensor.device.type}"
    return ""


def _size(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def _short(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > 4 * MOST_TEXT:  # the text of a huge integer is slow to make
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, (str, bytes)) and len(value) > MOST_TEXT:
        return f"{value[:MOST_TEXT]!r} ..."
    return repr(value)


def exception(error: BaseException, frames: list[dict[str, Any]], stage: str) -> dict[str, Any]:
    """The node of a raised exception: names of its class and of the classes above it, its text, its lines."""
    bases = [_class_name(base) for base in type(error).__mro__[:MOST_ITEMS]]
    try:
        message = str.encode(str(error), errors="backslashreplace").decode()
    except BaseException as problem:  # an exception of the student's own may fail to print itself
        message = f"(its text cannot be made: {_class_name(type(problem))})"
    return {
        "status": "raised",
        "stage": stage,
        "type": bases[0],
        "bases": bases,
        "message": message[:MOST_MESSAGE],
        "frames": frames,
    }


def _class_name(cls: type) -> str:
    """The name a class was made with, whatever its metaclass says."""
    name: str = type.__dict__["__name__"].__get__(cls)
    return name[:MOST_TEXT]


def changed(before: Mapping[str, torch.Tensor], after: Mapping[str, torch.Tensor]) -> list[str]:
    """Names of the arguments that are not what was handed over."""
    return [
        name
        for name, tensor in before.items()
        if after[name].shape != tensor.shape or not torch.equal(after[name], tensor)
    ]
