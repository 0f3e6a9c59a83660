"""For which sizes a callable is right, where sizes alone decide it: one sample, as many queries as keys."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from grader.assignment import Callable as About
from grader.diagnosis.predict import NOTHING, Predictions
from grader.diagnosis.said import Kind
from grader.question import Observation
from grader.resize import sizes_of

Sizes = Mapping[str, int]
#: Calls that there must be of either kind: fewer could agree by chance.
_LEAST = 3


def deciding_size(about: About, predictions: Predictions, observations: Mapping[str, Observation]) -> str | None:
    """What is true of the sizes of all calls that were answered rightly and of no other, in words.

    Only calls of visible checks count, since students read it; in the dtype of their inputs, whose right answer is a
    value.
    """
    right: list[Sizes] = []
    wrong: list[Sizes] = []
    for key, one in observations.items():
        call = one.question.call
        sizes = sizes_of(call, about)
        if (
            not one.question.is_visible
            or sizes is None
            or call.dtype == "float32"
            or predictions.right[key].kind is not Kind.VALUES
        ):
            continue
        is_right = predictions.agrees(predictions.read(one), NOTHING, key, one.dtype)
        (right if is_right else wrong).append(sizes)
    if len(right) < _LEAST or len(wrong) < _LEAST:
        return None
    for words, holds in _conditions({axis for sizes in (*right, *wrong) for axis in sizes}):
        if all(map(holds, right)) and not any(map(holds, wrong)):
            return f"right in all {len(right)} calls where {words}, wrong in all {len(wrong)} others"
        if all(map(holds, wrong)) and not any(map(holds, right)):
            return f"wrong in all {len(wrong)} calls where {words}, right in all {len(right)} others"
    return None


def _conditions(axes: set[str]) -> Iterator[tuple[str, Callable[[Sizes], bool]]]:
    for axis in sorted(axes):
        yield f"{axis} is 1", partial(_is_one, axis)
    for one, other in itertools.combinations(sorted(axes), 2):
        yield f"{one} and {other} are equal", partial(_are_equal, one, other)


def _is_one(axis: str, sizes: Sizes) -> bool:
    return sizes.get(axis) == 1


def _are_equal(one: str, other: str, sizes: Sizes) -> bool:
    return one in sizes and sizes[one] == sizes.get(other)
