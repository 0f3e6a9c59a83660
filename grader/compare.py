"""Comparing two tensors. The one place where closeness is decided; it words nothing.

A difference passes when it is at most `allowed`, written so that NaN never does.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """How an observed tensor differs from the expected one of the same shape."""

    #: Elements further apart than allowed, and all elements.
    differing: int
    total: int
    #: Where the difference is largest (NaN counts as largest).
    index: tuple[int, ...]
    observed: float
    expected: float
    difference: float
    allowed: float


def allowance(tolerance: float, expected: Iterable[torch.Tensor]) -> float:
    """Largest difference allowed between any two elements of one call.

    One scale for all tensors of a call: some gradients are exactly 0 in theory (that of the key's bias), and no
    scale of their own could judge them. Infinities do not count: a scale of infinity would allow anything.
    """
    scales = (tensor.double().abs().nan_to_num(nan=0.0, posinf=0.0) for tensor in expected if tensor.numel())
    return tolerance * max([1.0, *(float(scale.max()) for scale in scales)])


def compare(observed: torch.Tensor, expected: torch.Tensor, allowed: float) -> Mismatch | None:
    """None when every element is within `allowed`; the shapes must be equal.

    Compared in float64, Boolean as 0 and 1.
    """
    return measure(observed, expected, allowed)[1]


def measure(observed: torch.Tensor, expected: torch.Tensor, allowed: float) -> tuple[float, Mismatch | None]:
    """The largest difference, NaN where one is, and what `compare` says."""
    observed, expected = observed.double(), expected.double()
    difference = (observed - expected).abs()
    largest = float(difference.max()) if difference.numel() else 0.0  # NaN, where there is one
    if largest <= allowed:
        return largest, None
    is_close = difference <= allowed
    ranked = torch.where(difference.isnan(), math.inf, difference).flatten()
    position = int(ranked.argmax())
    return largest, Mismatch(
        differing=int((~is_close).sum()),
        total=observed.numel(),
        index=_unravel(position, tuple(observed.shape)),
        observed=float(observed.flatten()[position]),
        expected=float(expected.flatten()[position]),
        difference=float(difference.flatten()[position]),
        allowed=allowed,
    )


def first_not_finite(tensor: torch.Tensor) -> tuple[tuple[int, ...], float, int] | None:
    """Index and value of the first NaN or infinity, and how many there are; None when all are finite."""
    is_odd = ~tensor.isfinite()
    count = int(is_odd.sum())
    if not count:
        return None
    position = int(is_odd.flatten().to(torch.uint8).argmax())
    return _unravel(position, tuple(tensor.shape)), float(tensor.flatten()[position]), count


def _unravel(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    index = []
    for size in reversed(shape):
        position, remainder = divmod(position, size)
        index.append(remainder)
    return tuple(reversed(index))
