"""An answer, reduced to what a diagnosis compares: form, numbers, what went wrong. Small enough to keep many."""

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TypeGuard

import numpy as np
import torch
from numpy.typing import NDArray

from grader.call import Call
from grader.outcome import Gradients, Node, Outcome, Raised, Returned, WrongParameters
from grader.plain import Plain, is_finite, plain_of, same

Numbers = NDArray[np.float64]
#: Elements of a returned tensor up to which it is compared. Right ones have some hundreds; one of millions, in each of
#: sixty answers, would fill the memory of whoever looks at them together.
MOST_ELEMENTS = 65_536
#: Marks a plain value among the items of a form.
PLAIN = "plain"


class Kind(enum.Enum):
    """How a call ended."""

    VALUES = "values"
    RAISED = "raised"
    PARAMETERS = "wrong parameters"
    #: It took too long, crashed, was forbidden, was not asked, has no such name, was not filled in, is far too large.
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a callable said to one question."""

    kind: Kind
    #: Kinds, dtype classes and shapes of what was returned, and plain values themselves, marked as such; of wrong
    #: parameters, their names and shapes.
    form: tuple[object, ...] = ()
    #: All numbers of returned tensors, one after the other.
    numbers: Numbers = field(default_factory=lambda: np.empty(0))
    #: By input or parameter; an input that no gradient reached is left out. None: not asked for, or it raised.
    gradients: Mapping[str, Numbers] | None = None
    #: Whether gradients were asked for, and computing them raised.
    is_backward_raised: bool = False
    #: Arguments that the call changed.
    changed: frozenset[str] = frozenset()
    #: Classes of what was raised.
    bases: tuple[str, ...] = ()
    #: Where it was raised: while a module was built, or in its forward pass.
    stage: str = ""
    #: What is not to be compared, since something else accounts for it: `gradients` that are missing, inputs `changed`,
    #: what was done where an error is right and did not come (`unraised`).
    ignored: frozenset[str] = frozenset()

    def raises(self, error: str) -> bool:
        """Whether it raised that error, or one below it."""
        return self.kind is Kind.RAISED and error in self.bases

    @property
    def is_plain(self) -> bool:
        """Whether it is, in part, a number or a word that no tensor holds."""
        return any(map(_is_plain, self.form))


def said(outcome: Outcome, call: Call, right: Node | None = None) -> Said:
    """What an outcome says.

    `right`: what the right answer looks like. Where that is one Boolean tensor, one that fits is broadcast to its
    shape; where it is a number or a word, whatever stands for one is taken for it.
    """
    reply = outcome.reply
    if isinstance(reply, Raised):
        is_answer = reply.stage != "import" and not reply.is_unfilled
        return Said(kind=Kind.RAISED if is_answer else Kind.OTHER, bases=reply.bases, stage=reply.stage)
    if isinstance(reply, WrongParameters):
        shapes: tuple[object, ...] = tuple(sorted((reply.observed or {}).items()))
        if call.build and call.build.is_by_structure:  # what they are called is nobody's business
            shapes = tuple(sorted((reply.observed or {}).values()))
        return Said(kind=Kind.PARAMETERS, form=(reply.observed is None, *shapes))
    if not isinstance(reply, Returned):
        return Said(kind=Kind.OTHER)
    if any(tensor.numel() > MOST_ELEMENTS for tensor in outcome.tensors.values()):
        return Said(kind=Kind.OTHER)
    form, numbers = _values(reply, outcome.tensors, right)
    backward = outcome.backward
    return Said(
        kind=Kind.VALUES,
        form=form,
        numbers=numbers,
        gradients={name: _numbers(tensor) for name, tensor in outcome.gradients.items()}
        if isinstance(backward, Gradients)
        else None,
        is_backward_raised=backward is not None and not isinstance(backward, Gradients),
        changed=frozenset(reply.changed),
    )


def _values(
    reply: Returned, tensors: Mapping[str, torch.Tensor], right: Node | None
) -> tuple[tuple[object, ...], Numbers]:
    tree = reply.tree
    form: list[object] = [tree.length if tree.kind == "sequence" else "alone"]
    mask_shape = right.shape if right is not None and right.dtype == "bool" else None
    numbers = []
    for node, wanted in zip_longest(reply.values, right.values[: len(reply.values)] if right is not None else ()):
        value = plain_of(node, tensors) if wanted is not None and plain_of(wanted, {}) is not None else None
        if value is not None:
            form.append((PLAIN, _written(value)))
            continue
        tensor = tensors.get(node.data) if node.data is not None else None
        if tensor is None:
            form.append((node.kind, node.type, node.text, node.oddity, node.shape))
            continue
        if mask_shape is not None:
            tensor = _broadcast(tensor, mask_shape)
        form.append((_dtype_class(tensor), tuple(tensor.shape)))
        numbers.append(_numbers(tensor))
    return tuple(form), np.concatenate(numbers) if numbers else np.empty(0)


def _written(value: Plain) -> Plain:
    """A plain value as a form holds it, and a record: JSON has neither NaN nor infinity."""
    if isinstance(value, tuple):
        return tuple(map(_written, value))
    return value if is_finite(value) else str(value)


def _broadcast(tensor: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    """A mask of any shape that stands for one of `shape`, as that one."""
    try:
        spread: torch.Tensor = torch.broadcast_tensors(tensor, torch.empty(shape))[0]  # type: ignore[no-untyped-call]
        return spread
    except RuntimeError:
        return tensor


def _dtype_class(tensor: torch.Tensor) -> str:
    return "bool" if tensor.dtype == torch.bool else "float" if tensor.is_floating_point() else "whole"


def _numbers(tensor: torch.Tensor) -> Numbers:
    return tensor.detach().double().numpy().ravel()


def same_form(one: Said, other: Said, tolerance: float = 0.0) -> bool:
    """Whether both ended alike, and returned things of one form.

    `tolerance`: for plain numbers with a fraction, times what `other` says.
    """
    if one.kind is not other.kind or len(one.form) != len(other.form):
        return False
    return all(_same_item(*items, tolerance) for items in zip(one.form, other.form, strict=True))


def _same_item(one: object, other: object, tolerance: float) -> bool:
    if _is_plain(one) and _is_plain(other):
        return same(one[1], other[1], tolerance)
    return one == other


def _is_plain(item: object) -> TypeGuard[tuple[str, Plain]]:
    return isinstance(item, tuple) and item[:1] == (PLAIN,)


def are_identical(one: Said, other: Said) -> bool:
    """Whether both are the same in every bit of their numbers and gradients."""
    ours, theirs = one.gradients or {}, other.gradients or {}
    pairs = [(one.numbers, other.numbers), *((ours[name], theirs[name]) for name in ours.keys() & theirs.keys())]
    is_same = all(np.array_equal(first, second, equal_nan=True) for first, second in pairs)
    return same_form(one, other) and ours.keys() == theirs.keys() and is_same


def same_numbers(one: Numbers, other: Numbers, allowed: float) -> bool:
    """Whether two are equal within what is allowed, NaN and infinity at the same places."""
    return one.shape == other.shape and bool(close(one, other, allowed).all())


def close(one: Numbers, other: Numbers, allowed: float) -> NDArray[np.bool_]:
    """Where two are equal within what is allowed."""
    with np.errstate(invalid="ignore"):
        near: NDArray[np.bool_] = np.abs(one - other) <= allowed
    if near.all():
        return near
    same: NDArray[np.bool_] = near | (one == other) | (np.isnan(one) & np.isnan(other))
    return same


def scale(*numbers: Numbers) -> float:
    """The largest finite one, at least 1: what a tolerance is relative to. See `compare.allowance`."""
    largest = 1.0
    for one in numbers:
        finite = np.abs(one[np.isfinite(one)])
        largest = max(largest, float(finite.max(initial=0.0)))
    return largest if math.isfinite(largest) else 1.0
