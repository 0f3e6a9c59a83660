"""The roll of a class: every submission that was handed in, whose it is, and who is missing.

Brings together what the layout of a download says (`layouts`) and what a roster says (`roster`), and puts it into the
report: a line about the class into its header, people and times into each entry. Decides nothing about points.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from grader.find import Found
from grader.handed_in import Person
from grader.layouts.recognise import read_class
from grader.report import RunHeader, Submission
from grader.roster.join import join
from grader.roster.read import read_roster


@dataclass(frozen=True, kw_only=True)
class Roll:
    """A class as it was handed in."""

    #: How, in words.
    summary: str
    submissions: tuple[Found, ...]
    #: What a TA should know, one line each.
    remarks: tuple[str, ...] = ()
    #: Name of the roster; empty without one.
    roster: str = ""
    on_roster: int = 0
    missing: tuple[Person, ...] = ()
    #: Ids of submissions of which nobody is on the roster.
    strangers: tuple[str, ...] = ()

    @cached_property
    def by_id(self) -> Mapping[str, Found]:
        """The submissions by their ids."""
        return {one.id: one for one in self.submissions}


@contextmanager
def call_roll(place: Path, stubs: Sequence[str], roster: Path | None, *, is_single: bool = False) -> Iterator[Roll]:
    """Find the submissions of a class; what is unpacked for that stays until the end of the block.

    Args:
        place: a folder or the zip of a class, or one submission.
        stubs: names of the stub files of all assignments that may be meant.
        roster: a CSV file with the people of the class, if there is one.
        is_single: whether the place is one student's, whatever it looks like.

    Raises:
        FindError, LayoutError, RosterError: what was named cannot be used.
    """
    people = read_roster(roster) if roster else None
    with read_class(place, stubs, is_single=is_single) as layout:
        if people is None:
            yield Roll(summary=layout.summary, submissions=layout.submissions, remarks=layout.remarks)
            return
        joined = join(layout.submissions, people)
        remarks = (*layout.remarks, *joined.remarks)
        if not (layout.is_class and joined.fits):
            yield Roll(summary=layout.summary, submissions=joined.submissions, remarks=remarks)
            return
        yield Roll(
            summary=layout.summary,
            submissions=joined.submissions,
            remarks=remarks,
            roster=people.name,
            on_roster=len(people.entries),
            missing=joined.missing,
            strangers=joined.strangers,
        )


def head(header: RunHeader, roll: Roll, others: Iterable[Submission]) -> RunHeader:
    """The header with what the roll says; `others` are entries of an earlier run whose submissions are gone by now."""
    there = [person for entry in others for person in entry.people]
    missing = tuple(person for person in roll.missing if not any(_is_same(person, one) for one in there))
    return header.model_copy(
        update={
            "imported": roll.summary,
            "roster": roll.roster,
            "on_roster": roll.on_roster,
            "missing": missing,
            "strangers": roll.strangers,
        }
    )


def sign(entry: Submission, found: Mapping[str, Found]) -> Submission:
    """The entry with whose it is and when it came, graded just now or kept; as it was when its submission is gone.

    `found`: the submissions by id.
    """
    if (one := found.get(entry.id)) is None:
        return entry
    return entry.model_copy(update={"people": one.people, "handed_in": one.handed_in})


def _is_same(one: Person, other: Person) -> bool:
    pairs = [(one.email, other.email), (one.lms_id, other.lms_id), (one.login, other.login)]
    return any(mine and mine == theirs for mine, theirs in pairs) or one == other
