"""Names of lengths: which axes of an assignment a shape has, read off its numbers.

Where a call's axes have lengths that are different primes, every length is the product of certain axes and no others,
however a solution orders and folds them. Elsewhere a length is named only where one axis alone has it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from grader.assignment import Callable
from grader.call import Call
from grader.resize import sizes_of

#: Lengths of the axes, in order. Neither 2 nor 3, by which queries, keys and values are stacked; as small as can be,
#: since a loop over positions is a legal way.
PRIMES = (5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


def basic_axes(about: Callable) -> list[str]:
    """Axes that are made of no others, in the order in which they are stated."""
    stated = [axes for name in (*about.returns, *about.arguments) for axes in [about.lengths.get(name, ())]]
    names: dict[str, None] = {}
    for axis in (axis for axes in stated for axis in axes):
        names |= dict.fromkeys(about.splits.get(axis, (axis,)))
    return list(names)


@dataclass(frozen=True)
class Ruler:
    """Reads lengths as axes."""

    sizes: Mapping[str, int]
    splits: Mapping[str, tuple[str, ...]]
    basic: tuple[str, ...]

    @classmethod
    def of(cls, call: Call, about: Callable) -> "Ruler | None":
        sizes = sizes_of(call, about)
        if sizes is None:
            return None
        return cls(sizes, about.splits, tuple(axis for axis in basic_axes(about) if axis in sizes))

    @cached_property
    def is_certain(self) -> bool:
        """Whether a length says which axes it is made of."""
        lengths = [self.sizes[axis] for axis in self.basic]
        return len(set(lengths)) == len(lengths) and set(lengths) <= set(PRIMES)

    @cached_property
    def sizes_text(self) -> str:
        return ", ".join(f"{axis} {self.sizes[axis]}" for axis in (*self.basic, *self.splits) if axis in self.sizes)

    def axes(self, length: int) -> tuple[str, ...] | None:
        """The basic axes whose product a length is; None when it is none, or that is not certain."""
        if not self.is_certain or length < 1:
            return None
        found = []
        for axis in self.basic:
            while length % self.sizes[axis] == 0:
                found.append(axis)
                length //= self.sizes[axis]
        return tuple(found) if length == 1 else None

    def shape_axes(self, shape: Sequence[int]) -> list[tuple[str, ...]] | None:
        """Basic axes of each axis of a shape; those of length 1 are left out. None when one of them is unknown."""
        found = [self.axes(length) for length in shape if length != 1]
        return [axes for axes in found if axes] if None not in found else None

    def text(self, shape: Sequence[int]) -> str:
        return listed(self.names(*shape))

    def names(self, *lengths: int) -> list[str]:
        return [self._length_text(length) for length in lengths]

    def _length_text(self, length: int) -> str:
        names = [axis for axis, size in self.sizes.items() if size == length and length > 1]
        if not self.is_certain:  # a product of others may be as long by chance
            return names[0] if len(names) == 1 and not self._is_product(length) else str(length)
        axes = list(self.axes(length) or ())
        if not axes:
            return str(length)
        for whole, parts in self.splits.items():
            if all(part in axes for part in parts):
                axes = [axis for axis in axes if axis not in parts or axes.count(axis) > 1] + [whole]
        return "·".join(axes)

    def _is_product(self, length: int) -> bool:
        lengths = [size for size in self.sizes.values() if 1 < size < length]
        return any(one * other == length for one in lengths for other in lengths)

    def wanted(self, axes: Sequence[str]) -> tuple[int, ...] | None:
        """The lengths of these axes, where all are known."""
        return tuple(self.sizes[axis] for axis in axes) if set(axes) <= self.sizes.keys() else None


def listed(names: Sequence[str]) -> str:
    return f"[{', '.join(names)}]"
