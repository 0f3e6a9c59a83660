"""What becomes of each row of a gradebook, and how that is told. What a person wrote there is never lost to a blank."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from grader.export.amounts import read_points
from grader.export.error import ExportError
from grader.export.persons import Listed, Owner, Places
from grader.record import points_text

#: Cells that hold no score: nothing, and what Canvas takes for nothing.
_EMPTY = ("", "-")


@dataclass(slots=True)
class Filling:
    """What was done, in lists for people; a label each, then what is to be said of it."""

    #: What was filled, for the heading.
    what: str
    #: New text by row and column of the template.
    cells: dict[tuple[int, int], str] = field(default_factory=dict)
    filled: list[tuple[str, str]] = field(default_factory=list)
    #: Scores that were there and become others.
    changed: list[tuple[str, str]] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    #: Rows that are left as they are although there is a score.
    kept: list[tuple[str, str]] = field(default_factory=list)
    #: People of the report that no row is for.
    without_row: list[tuple[str, str]] = field(default_factory=list)
    #: People of the report that no score counts for.
    without_score: list[tuple[str, str]] = field(default_factory=list)
    without_submission: list[str] = field(default_factory=list)
    #: What else is to be known.
    notes: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether everybody of the report has a row and a score."""
        return not (self.without_row or self.without_score)

    def said(self) -> Iterator[str]:
        """Lines for the person who asked. Names stand in them as they are: show them for the terminal."""
        yield f"{self.what}: {len(self.filled)} filled, {len(self.changed)} changed, {len(self.unchanged)} as before"
        yield from _list("filled", self.filled)
        yield from _list("changed: a score was there, and another counts now", self.changed)
        yield from _list("left as they are", self.kept)
        yield from _list("in the report, with no row to fill", self.without_row)
        yield from _list("in the report, without a score: left as they are", self.without_score)
        yield from _list("in the template, without a submission: left as they are", self._nobody)
        yield from self.notes

    @property
    def _nobody(self) -> list[tuple[str, str]]:
        return [(label, "") for label in self.without_submission]


def must_place_somebody(places: Places, rows: Sequence[Listed], where: str, of_another: str) -> None:
    """Raises ExportError where no row is anybody's: the file is about other people."""
    if not places.placed:
        first = "".join(f" For one: {owner.label} {reason}" for owner, reason in places.unplaced[:1])
        raise ExportError(
            f"{where}: nobody of the report ({len(places.unplaced)} people) has a row among its {len(rows)}; is it of "
            f"another {of_another}?{first}"
        )


def begin(what: str, places: Places, rows: Sequence[Listed]) -> tuple[Filling, list[tuple[Listed, Owner, Decimal]]]:
    """Begin with who has no row and who has no score. The others are to be filled, with what counts for them."""
    filling = Filling(what)
    filling.without_row = [(owner.label, reason) for owner, reason in places.unplaced]
    todo = []
    for row in rows:
        owner = places.placed.get(row.row)
        if owner is None:
            filling.without_submission.append(row.label)
        elif owner.submission.final_score is None:
            filling.without_score.append((owner.label, owner.submission.reason or ""))
        else:
            todo.append((row, owner, owner.submission.final_score))
    return filling, todo


def put(
    filling: Filling, at: tuple[int, int], label: str, old: str, new: str, has_comma: bool, fixed: Mapping[str, str]
) -> None:
    """Decide about the score in one cell.

    Args:
        filling: takes the decision.
        at: row and column.
        label: whose row it is.
        old: what stands there.
        new: the points that are to stand there, with two places.
        has_comma: whether the file has decimal commas.
        fixed: texts that stay, in lower case, with the reason.
    """
    before = read_points(old)
    if old.casefold() in fixed:
        filling.kept.append((label, fixed[old.casefold()]))
    elif old not in _EMPTY and before is None:
        filling.kept.append((label, f"holds {old!r}, which is no number of points; the score is {new}"))
    elif before is not None and points_text(before) == new:
        filling.unchanged.append(label)
    else:
        filling.cells[at] = new.replace(".", ",") if has_comma else new
        if before is None:
            filling.filled.append((label, new))
        else:
            filling.changed.append((label, f"{points_text(before)} -> {new}"))


def _list(heading: str, entries: list[tuple[str, str]]) -> Iterator[str]:
    if entries:
        yield f"{heading} ({len(entries)}):"
        for label, text in entries:
            yield f"  {label}: {text}" if text else f"  {label}"
