"""Submissions and the roster put together: names where there were numbers, who is missing, who is a stranger.

What the roster says of time goes before what the platform says.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.find import Found
from grader.handed_in import HandIn, Person, TimeSource
from grader.record import clean_text
from grader.roster.match import Match, Matches, match
from grader.roster.read import Entry, Roster


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """A class with its roster."""

    submissions: tuple[Found, ...]
    #: Those of whom there is no submission, in the roster's order.
    missing: tuple[Person, ...]
    #: Ids of submissions of which nobody is on the roster.
    strangers: tuple[str, ...]
    remarks: tuple[str, ...]
    #: Whether anybody on the roster has handed something in; else it says nothing of who is missing.
    fits: bool


def join(found: Sequence[Found], roster: Roster) -> Joined:
    """Find the people of each submission on the roster."""
    matches = match(found, roster.entries)
    remarks = [*roster.remarks, *matches.remarks]
    if not matches.by_submission:
        remarks.append(
            "nobody on it has handed in any of these submissions: it may be another class's, and a download that "
            "names nobody cannot be compared with a roster"
        )
        told = _told(roster, remarks)
        return Joined(submissions=tuple(found), missing=(), strangers=(), remarks=told, fits=False)
    remarks += [*_twice(matches), *_partly(found, matches)]
    lines = matches.lines
    missing = [entry.person for entry in roster.entries if entry.line not in lines]
    strangers = [one.id for one in found if one.id not in matches.by_submission]
    everything = [_with_roster(one, matches.by_submission.get(one.id, [])) for one in found]
    return Joined(
        submissions=tuple(everything),
        missing=tuple(missing),
        strangers=tuple(strangers),
        remarks=_told(roster, remarks),
        fits=True,
    )


def _told(roster: Roster, remarks: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{roster.name}: {remark}" for remark in remarks)


def _twice(matches: Matches) -> list[str]:
    """People with several submissions."""
    by_line: dict[int, list[str]] = defaultdict(list)
    people: dict[int, Person] = {}
    for id, found in matches.by_submission.items():
        for one in found:
            by_line[one.entry.line].append(id)
            people[one.entry.line] = one.entry.person
    return [
        f"{clean_text(people[line].label)} (line {line}) has {len(ids)} submissions: {', '.join(sorted(ids))}"
        for line, ids in sorted(by_line.items())
        if len(ids) > 1
    ]


def _partly(found: Sequence[Found], matches: Matches) -> list[str]:
    """People of a group who are not on the roster, where others are."""
    told = []
    for one in found:
        known = matches.by_submission.get(one.id, [])
        unknown = [person.label for person in one.people if not _match_of(person, known)]
        if known and unknown and len(one.people) > 1:
            told.append(f"{one.id}: {', '.join(map(clean_text, unknown))} of that group is not on it")
    return told


def _with_roster(found: Found, matches: Sequence[Match]) -> Found:
    if not matches:
        return found
    said = [
        _merged(one.entry.person, person) if (one := _match_of(person, matches)) else person for person in found.people
    ]
    unsaid = [one.entry.person for one in matches if one.person is None]
    people = unsaid if len(found.people) <= 1 and unsaid else said  # a group by its name: its members instead
    return replace(found, people=tuple(people), handed_in=_handed_in(found.handed_in, [one.entry for one in matches]))


def _match_of(person: Person, matches: Sequence[Match]) -> Match | None:
    return next((one for one in matches if one.person == person), None)


def _merged(listed: Person, said: Person) -> Person:
    """The roster's words, and the platform's where the roster has none; the platform's own number stays."""
    return Person(
        name=listed.name or said.name,
        email=listed.email or said.email,
        lms_id=said.lms_id or listed.lms_id,
        login=listed.login or said.login,
    )


def _handed_in(said: HandIn | None, owners: Sequence[Entry]) -> HandIn | None:
    """When it came: the roster's word, where it has one. A group has the longest extension of its members."""
    times = [entry.submitted_at for entry in owners if entry.submitted_at]
    marks = [entry.is_late for entry in owners if entry.is_late is not None]
    extension_hours = max(entry.extension_hours for entry in owners)
    if not (times or marks or extension_hours):
        return said
    if not (times or marks) and said is not None:
        return said.model_copy(update={"extension_hours": extension_hours})
    said_late = said.is_marked_late if said and not times else False
    said_time = said.time if said and (any(marks) or not marks) else None  # in time: then no clock says otherwise
    return HandIn(
        source=TimeSource.ROSTER,
        time=max(times) if times else said_time,
        is_marked_late=any(marks) if marks else said_late,
        extension_hours=extension_hours,
    )
