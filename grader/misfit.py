"""Why an operation raised over the shapes of its tensors, in the names of the assignment's axes."""

import re
from itertools import zip_longest

from grader.outcome import Raised
from grader.ruler import Ruler, listed
from grader.traced import Made

#: Characters of torch's own words on an exception.
_MOST_WORDS = 200
#: Operations on two tensors whose shapes are held against each other from the last axis on.
_ELEMENTWISE = frozenset({"add", "sub", "mul", "div", "where", "masked_fill", "logical_and", "logical_or", "maximum"})
#: What torch says where elements do not fill a shape, and where a letter of an einsum has two lengths.
_UNFILLED = re.compile(r"shape '\[(-?\d{1,9}(?:, -?\d{1,9}){0,15})\]' is invalid for input of size")
_SUBSCRIPT = re.compile(
    r"subscript (\w) has size (\d{1,9}) for operand \d+ which does not broadcast with previously seen size (\d{1,9})"
)


def misfit(made: Made, raised: Raised, ruler: Ruler) -> str:
    """What did not fit in an operation, in names of axes where that is certain; else torch's own words."""
    words = (raised.message.splitlines() or [raised.type])[0][:_MOST_WORDS]
    if found := _UNFILLED.search(words):
        wanted = listed([ruler.names(int(length))[0] for length in found[1].split(",")])
        return f"its elements do not fill {wanted}"
    if found := _SUBSCRIPT.search(words):
        now, before = ruler.names(int(found[2]), int(found[3]))
        return f"the letter {found[1]} is {before} in one shape and {now} in another"
    if "must match" in words or "size" in words or "shapes cannot" in words:
        return _unequal(made, ruler) or words
    return words


def _unequal(made: Made, ruler: Ruler) -> str:
    """Which axes of the tensors do not fit; empty where that is for torch to say."""
    shapes: tuple[tuple[int, ...], ...] = made.inputs
    if made.operation in ("matmul", "mm", "bmm") and len(shapes) == 2 and min(map(len, shapes)) > 1:
        first, second = shapes
        if first[-1] != second[-2]:
            names = ruler.names(first[-1], second[-2])
            return f"{names[0]}, last of the first shape, is not {names[1]}, the last but one of the second"
        shapes = first[:-2], second[:-2]
    elif made.operation.rstrip("_") not in _ELEMENTWISE:
        return ""
    for lengths in zip_longest(*map(reversed, shapes), fillvalue=1):
        different = list(dict.fromkeys(length for length in lengths if length != 1))
        if len(different) > 1:
            names = ruler.names(*different[:2])
            return f"{names[0]} of one shape stands where another has {names[1]}"
    return ""
