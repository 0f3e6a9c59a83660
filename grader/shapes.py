"""The way of the tensors through a call: a student's own operations, in the names of the assignment's axes.

The call is made with lengths that are different primes, so that every length on the way says which axes it is made of,
in whatever order and however folded. Then the first step that no right solution can take is marked. Right values are
computed in very many ways, so few things are certain; where nothing is, nothing is marked.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from grader.assignment import Callable, Station
from grader.call import Call, Payload
from grader.finding import Shapes, Step
from grader.misfit import misfit
from grader.outcome import Raised, Returned
from grader.resize import Draw, ShapesOfParameters, resized, sizes_of
from grader.ruler import PRIMES, Ruler, basic_axes, listed
from grader.traced import NORMALISING, Made, Traced

#: Steps that are shown.
MOST_SHOWN = 60
#: Operations that move elements and compute nothing.
_MOVES = frozenset(
    {"view", "reshape", "flatten", "unflatten", "view_as", "reshape_as", "transpose", "permute", "swapaxes", "movedim"}
    | {"swapdims", "moveaxis", "T", "mT", "contiguous", "cat", "concat", "stack", "split", "chunk", "rearrange"}
)
#: Operations that cut pieces off, of any length.
_SLICES = frozenset(
    {"getitem", "narrow", "split", "chunk", "tensor_split", "split_with_sizes", "index_select", "unfold"}
)
#: The stated shape that a softmax makes.
_WEIGHTS = "weights"
#: An axis of the shapes on the way that stands for the axis along which one of the arguments has its vectors.
_POSITION = "position"


def trace_sizes(about: Callable) -> dict[str, int]:
    """Lengths by axis that tell the axes of a callable apart; those that are made of others are left out.

    Raises:
        ValueError: there are more axes than lengths.
    """
    names = basic_axes(about)
    if len(names) > len(PRIMES):
        raise ValueError(f"{len(names)} axes; at most {len(PRIMES)} can be told apart")
    return dict(zip(names, PRIMES, strict=False))


def to_trace(
    call: Call, about: Callable, draw: Draw, shapes_of_parameters: ShapesOfParameters, *, handle: int = 0
) -> Call | None:
    """The call with lengths that tell its axes apart; None when it cannot be made. Arguments as for `resized`.

    A tensor that is handed over twice, as in self-attention, becomes two, so that queries and keys can be told apart.
    """
    call = _with_tensors_apart(call, about)
    known = sizes_of(call, about)
    if known is None:
        return None
    sizes = {axis: length for axis, length in trace_sizes(about).items() if axis in known}
    return resized(call, about, sizes, draw, shapes_of_parameters, handle=handle)


def _with_tensors_apart(call: Call, about: Callable) -> Call:
    """The same call with a tensor of its own for every argument, under the argument's name."""
    positional = dict(zip(about.arguments, call.arguments, strict=False))
    named = positional | dict(call.keywords)
    stands_for = {name: value["tensor"] for name, value in named.items() if isinstance(value, dict)}
    tensors = {name: call.payload.arguments[old] for name, old in stands_for.items()}
    return replace(
        call,
        arguments=tuple({"tensor": name} if name in tensors else value for name, value in positional.items()),
        keywords={name: {"tensor": name} if name in tensors else value for name, value in call.keywords.items()},
        payload=Payload(tensors, call.payload.parameters),
        wants=tuple(name for name, old in stands_for.items() if old in call.wants),
    )


def shapes_on_the_way(traced: Traced, call: Call, about: Callable, called: str) -> Shapes | None:
    """The record for a report; None when there is nothing to be shown.

    Whether the call goes wrong is the caller's knowledge: only then is a departure one.

    Args:
        call: the one that was traced; where its axes have other lengths than `trace_sizes`, less is claimed.
        called: the call as text.
    """
    ruler = Ruler.of(call, about)
    if ruler is None:
        return None
    way = _Way(traced, call, about, ruler)
    number, departs = way.departure or (None, "")
    shown = way.shown
    if not shown:
        return None
    is_cut = traced.is_cut or len(shown) > MOST_SHOWN
    last = next((place for place, one in enumerate(shown) if one == number), 0) + 5
    shown = shown[max(0, last - MOST_SHOWN) :][:MOST_SHOWN]
    stages = way.stages
    return Shapes(
        part=call.part,
        callable=call.name,
        call=called,
        sizes=ruler.sizes_text,
        steps=tuple(
            _step(traced.steps[one], ruler, stages.get(one, ""), departs if one == number else "") for one in shown
        ),
        is_cut=is_cut,
        wanted=tuple(f"{station.name} {listed(station.axes)}" for station in about.way),
    )


# --- steps as text ----------------------------------------------------------------------------------------------


def _step(made: Made, ruler: Ruler, stage: str, departs: str) -> Step:
    return Step(
        file=made.file,
        line=made.line,
        operation=f"{made.operation} {made.detail}".rstrip(),
        inputs=tuple(_without_repeats([ruler.text(shape) for shape in made.inputs])),
        output=", ".join(_without_repeats([ruler.text(shape) for shape in made.outputs])),
        times=made.times,
        stage=stage,
        departs=departs,
    )


def _without_repeats(texts: Sequence[str]) -> Iterator[str]:
    """Three equal shapes or more in a row are counted."""
    start = 0
    for end in range(1, len(texts) + 1):
        if end == len(texts) or texts[end] != texts[start]:
            count = end - start
            yield from [f"{count} × {texts[start]}"] if count > 2 else texts[start:end]
            start = end


# --- what is known of a way ---------------------------------------------------------------------------------------


class _Way:
    """The steps of one call, held against the shapes that its assignment states."""

    def __init__(self, traced: Traced, call: Call, about: Callable, ruler: Ruler) -> None:
        self._traced = traced
        self._about = about
        self._ruler = ruler
        self._arguments = frozenset(
            name for name, tensor in call.payload.arguments.items() if tensor.is_floating_point()
        )

    @cached_property
    def shown(self) -> list[int]:
        """Numbers of the steps that made a tensor, or that the call ended with."""
        return [
            number
            for number, made in enumerate(self._traced.steps)
            if made.outputs or (made.is_raised and number == self._traced.raised)
        ]

    @cached_property
    def departure(self) -> tuple[int, str] | None:
        """The first step that departs from what is stated, and how."""
        found = [one for one in (self._doubled(), self._unsplit(), self._raised()) if one]
        return min(found) if found else self._returned()

    # --- departures ---------------------------------------------------------------------------------------------

    def _doubled(self) -> tuple[int, str] | None:
        """A tensor made of the arguments that has an axis twice: [.., head, head], or every query with every query."""
        most_axes = max((len(self._flat(station.axes)) for station in self._about.way), default=0)
        doubtful: set[str] = set()
        for number in self.shown:
            made = self._traced.steps[number]
            if not made.is_floating or not self._from(made) or made.operation.startswith("diag"):
                continue
            if made.operation in _SLICES:
                doubtful |= self._cut_to_length(made)
                continue
            axes = self._ruler.shape_axes(made.outputs[0]) if made.outputs else None
            if not axes or sum(map(len, axes)) > most_axes:  # one of them may select, as a matrix of ones and zeros
                continue
            doubled = [axis for axis in self._ruler.basic if axes.count((axis,)) > 1 and axis not in doubtful]
            if doubled:
                instead = self._instead(made, made.outputs[0])
                return number, f"{doubled[0]} is here twice, as in no shape on the way{instead}"
        return None

    def _cut_to_length(self, made: Made) -> set[str]:
        """Axes that a slice seems to have more often than what it was cut from: its length is one by chance."""
        before = Counter(self._ruler.shape_axes(made.inputs[0]) or () if made.inputs else ())
        found = [Counter(self._ruler.shape_axes(shape) or ()) - before for shape in made.outputs]
        return {axis for more in found for axes in more for axis in axes}

    def _instead(self, made: Made, shape: Sequence[int]) -> str:
        """What such a tensor usually is, where it looks like one."""
        station = self._first_of_several
        is_like = station and (len(self._from(made)) > 1 or len(shape) == len(station.axes))
        return f"; {station.name}: {listed(station.axes)}" if station and is_like else ""

    def _unsplit(self) -> tuple[int, str] | None:
        """One softmax where every head needs one of its own."""
        station = self._first_of_several
        heads = {part for parts in self._about.splits.values() for part in parts} & set(station.axes if station else ())
        if not station or len(heads) != 1 or not self._ruler.is_certain or self._traced.is_cut:
            return None
        if not isinstance(self._traced.reply, Returned) or any(made.is_wrapped for made in self._traced.steps):
            return None
        head = heads.pop()
        wanted = sorted(axis for axis in station.axes if axis != head)
        softmaxes = [
            (number, made)
            for number, made in enumerate(self._traced.steps)
            if made.operation == "softmax" and made.outputs and len(self._from(made)) > 1
        ]
        total = sum(made.times for _, made in softmaxes)
        if not softmaxes or total >= self._ruler.sizes[head]:
            return None
        for _, made in softmaxes:
            axes = self._ruler.shape_axes(made.outputs[0])
            if axes is None or sorted(axis for one in axes for axis in one) != wanted:
                return None
        number = softmaxes[0][0]
        return number, f"no axis {head}, and not once for each; {station.name}: {listed(station.axes)}"

    def _raised(self) -> tuple[int, str] | None:
        """The operation that the call ended with."""
        made, reply = self._traced.step(self._traced.raised), self._traced.reply
        if made is None or self._traced.raised is None or not isinstance(reply, Raised):
            return None
        return self._traced.raised, f"raised an error here: {misfit(made, reply, self._ruler)}"

    def _returned(self) -> tuple[int, str] | None:
        """The step that made a returned value of another shape than is stated."""
        reply, names = self._traced.reply, self._about.returns
        if not isinstance(reply, Returned):
            return None
        nodes = reply.tree.values
        if len(nodes) != len(names):
            return None
        for name, node, number in zip(names, nodes, self._traced.returned, strict=False):
            axes = self._about.axes.get(name, ())
            wanted = self._ruler.wanted(self._about.lengths.get(name, ()))
            made = self._traced.step(number)
            if node.shape is None or not axes or wanted is None or node.shape == wanted:
                continue
            if number is not None and made is not None and node.shape in made.outputs:
                return number, f"returned as {name}, which is to be {listed(axes)}"
        return None

    # --- stages -------------------------------------------------------------------------------------------------

    @cached_property
    def stages(self) -> dict[int, str]:
        """Names of stated shapes by the number of the step that made them, where that is certain."""
        found: dict[int, str] = {}
        if not self._ruler.is_certain:
            return found
        seen: set[tuple[int, frozenset[str]]] = set()
        is_normalised = False
        for number in self.shown:
            made = self._traced.steps[number]
            is_normalised |= made.operation.rstrip("_") in NORMALISING
            place = self._place(made, seen, is_normalised) if self._can_be_one(made) else None
            if place is not None:
                found[number] = self._about.way[place].name
                seen.add((place, self._from(made)))
        return found

    def _can_be_one(self, made: Made) -> bool:
        return made.is_floating and not made.is_wrapped and len(made.outputs) == 1

    def _place(self, made: Made, seen: set[tuple[int, frozenset[str]]], is_normalised: bool) -> int | None:
        """The first stated shape that it can be and that no step before it was.

        The way of each argument alone is made for each; what is made of several is made once, and in order.
        """
        sources, name = self._from(made), made.operation.rstrip("_")
        latest = max((place for place, others in seen if len(others) > 1), default=-1)
        for place, station in enumerate(self._about.way):
            is_single = _POSITION in station.axes
            is_due = (
                (place, sources) not in seen if is_single else place > latest and is_normalised == self._is_late(place)
            )
            if is_single != (len(sources) == 1) or not is_due or not sources or not self._has_axes(made, station):
                continue
            if is_single and self._about.kind == "module" and not made.is_learned:
                continue
            if not is_single and made.times > 1:  # it is one of several pieces, or not the first
                continue
            if self._is_move(place) and name not in _MOVES:
                continue
            if (station.name == _WEIGHTS) != (name == "softmax"):
                continue
            return place
        return None

    def _is_late(self, place: int) -> bool:
        """Whether a stated shape is that of the weights, or comes after them."""
        return any(station.name == _WEIGHTS for station in self._about.way[: place + 1])

    def _is_move(self, place: int) -> bool:
        """Whether a stated shape has the axes of the one before, in other places."""
        if place == 0:
            return False
        before, after = (sorted(map(str, self._flat(self._about.way[one].axes))) for one in (place - 1, place))
        return before == after and self._about.way[place - 1].axes != self._about.way[place].axes

    def _has_axes(self, made: Made, station: Station) -> bool:
        """Whether a shape has the axes of a stated one, in any order, where what is split there is split."""
        axes = self._ruler.shape_axes(made.outputs[0])
        if axes is None:
            return False
        flat = sorted(axis for one in axes for axis in one)
        if flat not in [sorted(self._flat(station.axes, position)) for position in self._positions(station)]:
            return False
        return all(
            (whole in station.axes) == any(set(parts) <= set(one) for one in axes)
            for whole, parts in self._wholes(flat)
        )

    def _wholes(self, flat: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        return ((whole, parts) for whole, parts in self._about.splits.items() if set(parts) <= set(flat))

    def _flat(self, axes: Sequence[str], position: str = _POSITION) -> list[str]:
        named = [position if axis == _POSITION else axis for axis in axes]
        return [part for axis in named for part in self._about.splits.get(axis, (axis,))]

    def _positions(self, station: Station) -> list[str]:
        """What the axis `position` may be: any that no other axis of this shape is."""
        return [axis for axis in self._ruler.basic if axis not in self._flat(station.axes)] or [_POSITION]

    def _from(self, made: Made) -> frozenset[str]:
        """Floating arguments it depends on."""
        return self._arguments & set(made.sources)

    @cached_property
    def _first_of_several(self) -> Station | None:
        """The first stated shape of something that is made of several arguments: the scores."""
        return next((station for station in self._about.way if _POSITION not in station.axes), None)
