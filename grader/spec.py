"""What a check is before anyone answers it: its id, its row in the report, its points, what it builds on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from grader.assignment import Assignment, AssignmentError

_PREFIX = "test_"
_HIDDEN = "_hidden"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSpec:
    """One check of an assignment."""

    #: `part.name`, unique in the assignment.
    id: str
    part: str
    callable: str
    title: str
    description: str
    points: Decimal
    #: Ids of the checks that must pass first.
    requires: tuple[str, ...]
    hint: str
    is_visible: bool


def scope_of(file: Path) -> tuple[str, bool]:
    """The part a check file belongs to, and whether its checks are visible: `test_<part>.py`, `test_<part>_hidden.py`.

    Raises:
        AssignmentError: the file is named otherwise.
    """
    if not file.stem.startswith(_PREFIX):
        raise AssignmentError(f"{file}: check files are named test_<part>.py or test_<part>_hidden.py")
    name = file.stem.removeprefix(_PREFIX)
    return name.removesuffix(_HIDDEN), not name.endswith(_HIDDEN)


def visible_checks(assignment: Assignment) -> list[Path]:
    """The files of the checks that students have."""
    return [file for part in assignment.parts if (file := assignment.checks / f"{_PREFIX}{part.name}.py").is_file()]


def read_spec(
    assignment: Assignment, file: Path, function: str, docstring: str, marker: Mapping[str, Any]
) -> CheckSpec:
    """The spec of a test function that carries a `check` marker with these keywords.

    Raises:
        AssignmentError: its part or callable is unknown, or its points are no positive number of cents.
    """
    part, is_visible = scope_of(file)
    try:
        assignment.callable(part, marker["callable"])
    except AssignmentError as error:
        raise AssignmentError(f"{file}, {function}: {error}") from None
    name = function.removeprefix(_PREFIX)
    return CheckSpec(
        id=f"{part}.{name}",
        part=part,
        callable=marker["callable"],
        title=marker["title"] or _title(name),
        description=" ".join(docstring.split()),
        points=_points(file, function, marker["points"]),
        requires=tuple(f"{part}.{required}" for required in marker["requires"]),
        hint=marker["hint"],
        is_visible=is_visible,
    )


def validate(assignment: Assignment, specs: Iterable[CheckSpec], *, are_all: bool = True) -> None:
    """Whether the checks fit the assignment as a whole; `are_all`: none was left out, so that points must add up.

    Raises:
        AssignmentError: two checks share an id, points do not add up to a part's, or a prerequisite is unknown, comes
            later, or belongs to another callable.
    """
    seen: dict[str, CheckSpec] = {}
    for spec in specs:
        if spec.id in seen:
            raise AssignmentError(
                f"{assignment.checks}: two checks are called {spec.id}; names must differ within a part"
            )
        for required in spec.requires:
            if required not in seen or seen[required].callable != spec.callable:
                raise AssignmentError(
                    f"{assignment.checks}: {spec.id} requires {required}, which is no earlier check of {spec.callable}"
                )
        seen[spec.id] = spec
    for part in assignment.parts:
        points = sum((spec.points for spec in seen.values() if spec.part == part.name), Decimal(0))
        if points > part.points or (are_all and points != part.points):
            raise AssignmentError(
                f"{assignment.where}, parts.{part.name}.points: the checks add up to {points}, wanted {part.points}"
            )


def _title(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def _points(file: Path, function: str, text: str) -> Decimal:
    try:
        points = Decimal(text)
        is_right = points > 0 and points == points.quantize(Decimal("0.01"))
    except InvalidOperation:  # no number, or NaN, or infinity
        is_right = False
    if not is_right:
        raise AssignmentError(
            f"{file}, {function}: points must be a positive number with at most two decimals; got {text!r}"
        )
    return points
