"""Which parameter of a student's module is which of the reference's, where a task leaves names to the student.

Layers are found by what they are: tensors of the same shapes under the same last names (`weight`, `bias`). Numbers in
a name are places in a list, so that a list of heads with three layers each, and three lists of layers, are the same
layers. What several layers could be is a matter of trying: all ways are listed, the likeliest first.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

#: Choices that are listed for layers of one form: three of six, or five, in any order.
MOST_WAYS = 120

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
        return _own_name(self.name)


def mappings(wanted: Shapes, observed: Shapes) -> Iterator[dict[str, str]]:
    """Every way to read the observed parameters as the wanted ones: names wanted to names observed.

    A layer of the same own name (`q`, whatever list it is in) is that layer. Of others, those whose names begin or end
    alike (`to_q`, `query`) are tried first, then those that come first. Observed layers that stand for nothing are
    left over. Layers that are in no list together (`first.q`, `heads.1.q`) are taken together where nothing else fits.
    """
    for by in (_without_numbers, _own_name):
        ways = _mappings(_families(wanted, by), _families(observed, by))
        first = next(ways, None)
        if first is not None:
            yield first
            yield from ways
            return


def _mappings(ours: Sequence[_Family], theirs: Sequence[_Family]) -> Iterator[dict[str, str]]:
    fixed: dict[str, _Family] = {}
    for family in ours:
        alike = [one for one in theirs if one.form == family.form and one.own_name == family.own_name]
        if len(alike) == 1:
            fixed[family.name] = alike[0]
    taken = {one.name for one in fixed.values()}
    groups: dict[object, list[_Family]] = {}
    for family in ours:
        if family.name not in fixed:
            groups.setdefault(family.form, []).append(family)
    left = [one for one in theirs if one.name not in taken]
    ways = [_ways(group, [one for one in left if one.form == form]) for form, group in groups.items()]
    for way in itertools.product(*ways):
        pairs = [(family, fixed[family.name]) for family in ours if family.name in fixed]
        yield _names([*pairs, *itertools.chain.from_iterable(way)])


def _ways(wanted: Sequence[_Family], observed: Sequence[_Family]) -> list[list[tuple[_Family, _Family]]]:
    """Every choice of an observed family for each of the wanted ones, the likeliest first."""
    likeliest: list[_Family] = []
    for family in wanted:
        left = [one for one in observed if one not in likeliest]
        likeliest += sorted(left, key=lambda one: not _sounds_like(one.own_name, family.own_name))[:1]
    rest = [one for one in observed if one not in likeliest]
    chosen = itertools.islice(itertools.permutations([*likeliest, *rest], len(wanted)), MOST_WAYS)
    return [list(zip(wanted, one, strict=True)) for one in chosen]


def _sounds_like(observed: str, wanted: str) -> bool:
    """Whether a name says the same in other words: `to_q`, `Wq` and `query` of `q`."""
    words = observed.lower().split("_")
    return any(word.startswith(wanted.lower()) or word.endswith(wanted.lower()) for word in words)


def _names(pairs: Sequence[tuple[_Family, _Family]]) -> dict[str, str]:
    return {
        _joined(layer, name): _joined(other, name)
        for ours, theirs in pairs
        for layer, other, form in zip(ours.layers, theirs.layers, ours.form, strict=True)
        for name, _ in form
    }


def _joined(layer: str, name: str) -> str:
    return f"{layer}.{name}" if layer else name


def _families(shapes: Shapes, by: Callable[[str], str]) -> list[_Family]:
    """The families of a module's layers, in the order they first come; `by`: what those of one have in common."""
    layers: dict[str, dict[str, Shape]] = {}
    for name, shape in shapes.items():
        layer, _, last = name.rpartition(".")
        layers.setdefault(layer, {})[last] = tuple(shape)
    families: dict[str, list[str]] = {}
    for layer in layers:
        families.setdefault(by(layer), []).append(layer)
    return [
        _Family(name, tuple(members), tuple(tuple(sorted(layers[one].items())) for one in members))
        for name, unordered in families.items()
        for members in [sorted(unordered, key=_numbers) if by is _without_numbers else unordered]
    ]


def _without_numbers(layer: str) -> str:
    return re.sub(r"\d+", "#", layer)


def _own_name(layer: str) -> str:
    """The last name that is no number; empty where there is none."""
    named = [step for step in layer.split(".") if step != "#" and not step.isdigit()]
    return named[-1] if named else ""


def _numbers(layer: str) -> list[int]:
    return [int(number[-12:]) for number in re.findall(r"\d+", layer)]
