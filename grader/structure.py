"""Which parameter of a student's module is which of the reference's, where a task leaves names to the student.

Layers are found by what they are: tensors of the same shapes under the same last names (`weight`, `bias`). Numbers in
a name are places in a list, so that a list of heads with three layers each, and three lists of layers, are the same
layers. What several layers could be is a matter of trying: all ways are listed, the likeliest first.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

#: Choices that are listed for layers of one form: four layers, in any order.
MOST_WAYS = 24

Shape = tuple[int, ...]
#: Parameters by name, and their shapes.
Shapes = Mapping[str, Shape]


@dataclass(frozen=True, slots=True)
class _Family:
    """Layers whose names differ in numbers only, in the order of these numbers."""

    #: Name of a layer with its numbers left out.
    name: str
    #: Full names of the layers.
    layers: tuple[str, ...]
    #: Of each layer, its parameters' last names and shapes.
    form: tuple[tuple[tuple[str, Shape], ...], ...]

    @property
    def own_name(self) -> str:
        """The last name that is no number."""
        return [step for step in self.name.split(".") if step != "#"][-1] if self.name else ""


def mappings(wanted: Shapes, observed: Shapes) -> Iterator[dict[str, str]]:
    """Every way to read the observed parameters as the wanted ones: names wanted to names observed.

    A layer of the same own name (`q`, whatever list it is in) is that layer. Of others, those that come first are tried
    first. Observed layers that nothing stands for are left over.
    """
    ours, theirs = _families(wanted), _families(observed)
    fixed: dict[str, _Family] = {}
    for family in ours:
        alike = [one for one in theirs if one.form == family.form and one.own_name == family.own_name]
        if len(alike) == 1:
            fixed[family.name] = alike[0]
    taken = {one.name for one in fixed.values()}
    free = [family for family in ours if family.name not in fixed]
    groups: dict[object, list[_Family]] = {}
    for family in free:
        groups.setdefault(family.form, []).append(family)
    left = [one for one in theirs if one.name not in taken]
    ways = [_ways(group, [one for one in left if one.form == form]) for form, group in groups.items()]
    for way in itertools.product(*ways):
        pairs = [(family, fixed[family.name]) for family in ours if family.name in fixed]
        yield _names([*pairs, *itertools.chain.from_iterable(way)])


def _ways(wanted: Sequence[_Family], observed: Sequence[_Family]) -> list[list[tuple[_Family, _Family]]]:
    """Every choice of an observed family for each of the wanted ones; they come in the order of the observed."""
    chosen = itertools.islice(itertools.permutations(observed, len(wanted)), MOST_WAYS)
    return [list(zip(wanted, one, strict=True)) for one in chosen]


def _names(pairs: Sequence[tuple[_Family, _Family]]) -> dict[str, str]:
    return {
        _joined(layer, name): _joined(other, name)
        for ours, theirs in pairs
        for layer, other, form in zip(ours.layers, theirs.layers, ours.form, strict=True)
        for name, _ in form
    }


def _joined(layer: str, name: str) -> str:
    return f"{layer}.{name}" if layer else name


def _families(shapes: Shapes) -> list[_Family]:
    """The families of a module's layers, in the order they first come."""
    layers: dict[str, dict[str, Shape]] = {}
    for name, shape in shapes.items():
        layer, _, last = name.rpartition(".")
        layers.setdefault(layer, {})[last] = tuple(shape)
    families: dict[str, list[str]] = {}
    for layer in layers:
        families.setdefault(re.sub(r"\d+", "#", layer), []).append(layer)
    return [
        _Family(name, tuple(members), tuple(tuple(sorted(layers[one].items())) for one in members))
        for name, unordered in families.items()
        for members in [sorted(unordered, key=_numbers)]
    ]


def _numbers(layer: str) -> list[int]:
    return [int(number[-12:]) for number in re.findall(r"\d+", layer)]
