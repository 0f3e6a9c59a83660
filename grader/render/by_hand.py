"""What a reader can follow by hand: small examples as tables of numbers, and the shapes on the way, by callable.

Works alike on the staff's records and on a student's view of them.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

#: Cells of one matrix on a page; an example is smaller, and what a student's code returned for it may not be.
_MOST_CELLS = 400
#: Characters up to which cells of two tensors are made as wide as each other.
_WIDEST_CELL = 12
_MARKS = {"True": "✓", "False": "·"}


class Tensor(Protocol):
    """What a table needs of a matrix; `finding.Matrix` and `student_records.StudentMatrix` have it."""

    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def axes(self) -> tuple[str, ...]: ...
    @property
    def cells(self) -> tuple[str, ...]: ...


class SmallCall(Protocol):
    """What a page needs of an example; `finding.Example` and `student_records.StudentExample` have it."""

    @property
    def callable(self) -> str: ...
    @property
    def call(self) -> str: ...
    @property
    def inputs(self) -> Sequence[Tensor]: ...
    @property
    def expected(self) -> Sequence[Tensor]: ...
    @property
    def observed(self) -> Sequence[Tensor]: ...
    @property
    def remark(self) -> str: ...


class Operation(Protocol):
    """What a page needs of one operation; `finding.Step` and `student_records.StudentStep` have it."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int | None: ...
    @property
    def operation(self) -> str: ...
    @property
    def inputs(self) -> tuple[str, ...]: ...
    @property
    def output(self) -> str: ...
    @property
    def times(self) -> int: ...
    @property
    def stage(self) -> str: ...
    @property
    def departs(self) -> str: ...


class WayThrough(Protocol):
    """What a page needs of shapes on the way; `finding.Shapes` and `student_records.StudentShapes` have it."""

    @property
    def callable(self) -> str: ...
    @property
    def call(self) -> str: ...
    @property
    def sizes(self) -> str: ...
    @property
    def steps(self) -> Sequence[Operation]: ...
    @property
    def is_cut(self) -> bool: ...
    @property
    def wanted(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One element."""

    text: str
    #: The whole word where `text` is a mark for it.
    word: str
    #: Whether the matrix beside it has something else in its place.
    differs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The last two axes of a tensor at one place of the others: rows of cells."""

    #: The place: "sample 0, head 1"; empty where there is one only.
    caption: str
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Laid:
    """A tensor, laid out."""

    name: str
    #: As text; empty for a single value.
    shape: str
    #: Whether the tensor beside it has another shape.
    shape_differs: bool
    #: Names of the axes that run down and across; empty where not known, or where there is no such axis.
    down: str
    across: str
    #: Whether rows are numbered: a single value and a vector have none.
    has_rows: bool
    has_columns: bool
    grids: tuple[Grid, ...]
    #: Whether its elements are written as marks for true and false.
    is_mask: bool
    is_too_large: bool
    differing: int
    count: int
    #: Characters of the widest cell, here or in the tensor beside it.
    width: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """What is right, beside what the student's code gave; None where it gave nothing."""

    expected: Laid
    observed: Laid | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A small call, laid out."""

    call: str
    inputs: tuple[Laid, ...]
    pairs: tuple[Pair, ...]
    #: What was observed though nothing like it is expected, as where an error is right.
    unexpected: tuple[Laid, ...]
    remark: str

    @property
    def is_marked(self) -> bool:
        """Whether some cell is marked as different."""
        return any(pair.observed is not None and pair.observed.differing > 0 for pair in self.pairs)

    @property
    def has_masks(self) -> bool:
        """Whether some tensor is written in marks for true and false."""
        beside = [laid for pair in self.pairs for laid in (pair.expected, pair.observed) if laid is not None]
        return any(laid.is_mask for laid in (*self.inputs, *beside, *self.unexpected))


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Shapes on the way, and the file when all of them are of one."""

    shapes: WayThrough
    file: str
    #: The step that departs, if one does.
    departing: Operation | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ByHand:
    """A callable with its example, its shapes, or both."""

    #: Its place on the page, from 1.
    number: int
    callable: str
    example: Example | None
    way: Way | None


def by_hand(
    examples: Iterable[SmallCall], shapes: Iterable[WayThrough], first: Iterable[str] = ()
) -> Mapping[str, ByHand]:
    """Lay out examples and shapes, by callable; those named in `first` in front, in that order."""
    example_of = {example.callable: example for example in examples}
    shapes_of = {way.callable: way for way in shapes}
    names = dict.fromkeys([*first, *example_of, *shapes_of])
    known = [name for name in names if name in example_of or name in shapes_of]
    return {
        name: _callable(number, name, example_of.get(name), shapes_of.get(name)) for number, name in enumerate(known, 1)
    }


def _callable(number: int, name: str, example: SmallCall | None, shapes: WayThrough | None) -> ByHand:
    return ByHand(
        number=number,
        callable=name,
        example=_example(example) if example else None,
        way=_way(shapes) if shapes else None,
    )


def _example(example: SmallCall) -> Example:
    pairs = itertools.zip_longest(example.expected, example.observed[: len(example.expected)])
    return Example(
        call=example.call,
        inputs=tuple(lay_out(matrix) for matrix in example.inputs),
        pairs=tuple(_pair(right, given) for right, given in pairs),
        unexpected=tuple(lay_out(given) for given in example.observed[len(example.expected) :]),
        remark=example.remark,
    )


def _pair(right: Tensor, given: Tensor | None) -> Pair:
    """Two tensors whose cells are as wide, so that the eye can go from one to the other."""
    expected = lay_out(right)
    if given is None:
        return Pair(expected=expected, observed=None)
    observed = lay_out(given, right)
    width = max(expected.width, observed.width)
    return Pair(expected=replace(expected, width=width), observed=replace(observed, width=width))


def _way(shapes: WayThrough) -> Way:
    files = {step.file for step in shapes.steps}
    return Way(
        shapes=shapes,
        file=files.pop() if len(files) == 1 else "",
        departing=next((step for step in shapes.steps if step.departs), None),
    )


def lay_out(matrix: Tensor, beside: Tensor | None = None) -> Laid:
    """Lay a tensor out as tables, marking what differs from the one beside it.

    Where the shapes of the two differ, no cell has a counterpart, and the shape is marked instead.
    """
    is_whole = math.prod(matrix.shape) == len(matrix.cells)
    shape = matrix.shape if is_whole else (len(matrix.cells),)
    axes = matrix.axes if len(matrix.axes) == len(shape) else ("",) * len(shape)
    is_too_large = len(matrix.cells) > _MOST_CELLS
    has_same_shape = beside is not None and beside.shape == matrix.shape and len(beside.cells) == len(matrix.cells)
    others = beside.cells if beside is not None and has_same_shape else matrix.cells
    is_mask = bool(matrix.cells) and set(matrix.cells) <= set(_MARKS)
    cells = [_cell(text, text != other, is_mask) for text, other in zip(matrix.cells, others, strict=True)]
    return Laid(
        name=matrix.name,
        shape=f"[{', '.join(map(str, matrix.shape))}]" if matrix.shape else "",
        shape_differs=beside is not None and not has_same_shape,
        down=axes[-2] if len(shape) > 1 else "",
        across=axes[-1] if shape else "",
        has_rows=len(shape) > 1,
        has_columns=bool(shape),
        grids=() if is_too_large else tuple(_grids(shape, axes, cells)),
        is_mask=is_mask,
        is_too_large=is_too_large,
        differing=sum(cell.differs for cell in cells),
        count=len(cells),
        width=min(max((len(cell.text) for cell in cells), default=1), _WIDEST_CELL),
    )


def _cell(text: str, differs: bool, is_mask: bool) -> Cell:
    return Cell(text=_MARKS[text] if is_mask else text, word=text if is_mask else "", differs=differs)


def _grids(shape: tuple[int, ...], axes: Sequence[str], cells: Sequence[Cell]) -> Iterator[Grid]:
    width = shape[-1] if shape else 1
    height = shape[-2] if len(shape) > 1 else 1
    if not cells:
        return
    leading = shape[:-2]
    for number, place in enumerate(itertools.product(*map(range, leading))):
        begin = number * width * height
        rows = (cells[begin + row * width : begin + (row + 1) * width] for row in range(height))
        yield Grid(caption=_place(leading, axes, place), rows=tuple(map(tuple, rows)))


def _place(leading: Sequence[int], axes: Sequence[str], place: Sequence[int]) -> str:
    """The place in words, leaving out the axes on which there is one only."""
    named = zip(axes, leading, place, strict=False)
    return ", ".join(f"{axis or 'index'} {at}" for axis, size, at in named if size > 1)
