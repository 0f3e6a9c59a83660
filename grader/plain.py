"""Plain values that were returned: a number, a word, a sequence of these. What they are, and when two are the same.

A shape, a count of bytes, a word that was to be chosen. A worker sends them inside a description (`outcome.Node`); a
tensor without axes, and a number of NumPy's, counts as the number it holds.
"""

import math
import re
from collections.abc import Mapping

import torch

from grader.outcome import Node

Number = bool | int | float
Plain = Number | str | tuple["Plain", ...]

#: What does not count in a word: blanks, hyphens and dashes, the underscore.
_BETWEEN = re.compile(r"[\s_\-\u2010-\u2015]+")


def plain_of(node: Node, tensors: Mapping[str, torch.Tensor]) -> Plain | None:
    """The plain value that a description is of; None where it is of something else, or of more than was sent."""
    if node.kind == "tensor":
        tensor = tensors.get(node.data) if node.data is not None else None
        return None if tensor is None or tensor.ndim else tensor.item()
    if node.kind == "sequence":
        items = tuple(value for item in node.items if (value := plain_of(item, tensors)) is not None)
        return items if items and len(items) == node.length else None
    return node.value


def same(observed: Plain, expected: Plain, tolerance: float) -> bool:
    """Whether two are the same.

    Whole numbers, True and False exactly, however they are written (6.0 is 6); where a number with a fraction is
    expected, within `tolerance` times that number. NaN equals nothing. Words without regard to capitals, blanks and
    hyphens. Sequences item by item, whatever their class.
    """
    if isinstance(expected, tuple):
        if not isinstance(observed, tuple) or len(observed) != len(expected):
            return False
        return all(same(one, other, tolerance) for one, other in zip(observed, expected, strict=True))
    if isinstance(expected, str) or isinstance(observed, str):
        return isinstance(observed, str) and isinstance(expected, str) and spelt(observed) == spelt(expected)
    if isinstance(observed, tuple):
        return False
    if isinstance(expected, float) and math.isfinite(expected):  # a right answer of 0 has no scale of its own
        return abs(observed - expected) <= tolerance * max(abs(expected), tolerance)
    return observed == expected


def spelt(word: str) -> str:
    """A word as it is compared."""
    return _BETWEEN.sub("", word).casefold()


def is_finite(value: Plain) -> bool:
    """Whether it holds neither NaN nor infinity."""
    if isinstance(value, tuple):
        return all(map(is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def sort_of(value: Plain) -> str:
    """What sort of value it is, in words: all that a message may say of a right one whose place something else took."""
    if isinstance(value, tuple):
        return "a tuple of numbers"
    if isinstance(value, str):
        return "a word"
    if isinstance(value, bool):
        return "True or False"
    return "a whole number" if isinstance(value, int) else "a number"


def is_of_sort(observed: Plain, expected: Plain) -> bool:
    """Whether it is a word, a number or a sequence as the other is."""
    return isinstance(observed, str) == isinstance(expected, str) and (
        isinstance(observed, tuple) == isinstance(expected, tuple)
    )


def text_of(value: Plain) -> str:
    """It as Python writes it; what cannot be printed is spelt out."""
    if isinstance(value, tuple):
        return f"({', '.join(map(text_of, value))}{',' if len(value) == 1 else ''})"
    return ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
