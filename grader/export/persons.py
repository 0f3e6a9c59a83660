"""Whose row is whose: the people of a report among the rows of a gradebook.

A wrong row is worse than none. A number decides before a login, a login before an address, an address before a name;
whatever points at two rows, or is contradicted, places nobody and is said.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from grader.handed_in import Person
from grader.report import Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A row of a gradebook, by what it says of a person. What it does not say is empty."""

    #: Its place among the template's rows.
    row: int
    #: Name, and what else tells it from others, for people.
    label: str
    #: Numbers it has on the platform and in the school, in columns of their own.
    numbers: tuple[str, ...] = ()
    logins: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class Owner(NamedTuple):
    """Somebody whose submission it is."""

    submission: Submission
    person: Person
    #: Whether nobody said who it is, so that the submission's name stands for all that could be said.
    is_guessed: bool

    @property
    def label(self) -> str:
        """The person and the submission, named once where they are the same."""
        name = self.person.label
        return name if name == self.submission.id else f"{name} ({self.submission.id})"


@dataclass(slots=True)
class Places:
    """Who was placed where, and who was not, with the reason."""

    #: Owner by the row.
    placed: dict[int, Owner] = field(default_factory=dict)
    unplaced: list[tuple[Owner, str]] = field(default_factory=list)


def owners_of(submissions: Iterable[Submission]) -> list[Owner]:
    """Everybody, several for a group. Where no person is known, the submission's id stands for one."""
    owners = []
    for submission in submissions:
        name = submission.id
        guess = Person(name=name, login=name, lms_id=name, email=name)
        people = [Owner(submission, person, False) for person in submission.people if person.label]
        owners += people or [Owner(submission, guess, True)]
    return owners


def place(chosen: Sequence[Owner], everybody: Sequence[Owner], rows: Sequence[Listed]) -> Places:
    """Find the row of each.

    Args:
        chosen: whom to place.
        everybody: all people of the report: they show which of the columns the report's numbers are from.
        rows: the gradebook.
    """
    ways = _ways(everybody, rows)
    spoken = {way.name for way in ways if way.is_spoken(everybody)}
    labels = {row.row: row.label for row in rows}
    places, claims = Places(), defaultdict(list)
    for owner in chosen:
        found = _guessed(owner, ways) if owner.is_guessed else _row(owner, ways, spoken)
        if isinstance(found, str):
            places.unplaced.append((owner, found))
        elif len(found) > 1:
            several = " and ".join(labels[row] for row in sorted(found)[:3])
            places.unplaced.append((owner, f"may be {several}"))
        else:
            claims[next(iter(found))].append(owner)
    for row, claimants in claims.items():
        ids = dict.fromkeys(owner.submission.id for owner in claimants)
        if len(ids) == 1:
            places.placed[row] = claimants[0]
        else:
            reason = f"{labels[row]} is in several submissions ({', '.join(ids)}); choose one with --student"
            places.unplaced += [(owner, reason) for owner in claimants]
    return places


def name_forms(name: str) -> frozenset[str]:
    """A name as what it may be compared by: letters and digits alone, family name first or last where a comma says so.

    Source: Canvas names downloads by the sortable name ("Doe, Jane") in lower case without other signs ("doejane").
    """
    parts = [_plain(part) for part in name.split(",", 1)]
    forms = {"".join(parts), "".join(reversed(parts))}
    return frozenset(form for form in forms if form)


@dataclass(frozen=True, slots=True)
class _Way:
    """One thing that a person and a row may share."""

    name: str
    of_person: Callable[[Person], Iterable[str]]
    rows: Mapping[str, frozenset[int]]

    def matches(self, person: Person) -> frozenset[int]:
        """Rows that share it with a person."""
        return frozenset().union(*(self.rows.get(key, frozenset()) for key in self.of_person(person)))

    def is_spoken(self, owners: Iterable[Owner]) -> bool:
        """Whether it tells some person of the report apart: then having no row by it means to have none."""
        return any(not owner.is_guessed and self.matches(owner.person) for owner in owners)


def _row(owner: Owner, ways: Sequence[_Way], spoken: set[str]) -> frozenset[int] | str:
    """The rows by the first way that knows any; the reason where none does, or where another way contradicts."""
    for way in ways:
        if not any(way.of_person(owner.person)):
            continue
        rows = way.matches(owner.person)
        if rows:
            others = [other for other in ways if other is not way and other.name != "name"]
            against = [other.name for other in others if (found := other.matches(owner.person)) and not found & rows]
            if against:
                return f"is one row by {way.name} and another by {' and '.join(against)}"
            return rows
        if way.name in spoken:
            return f"has no row (looked for by {way.name})"
    return "has no row"


def _guessed(owner: Owner, ways: Sequence[_Way]) -> frozenset[int] | str:
    """All rows that the submission's name may mean, in whatever way."""
    rows = frozenset().union(*(way.matches(owner.person) for way in ways))
    return rows or "has no row of this name, and the report does not say whose it is (grade with a roster)"


def _ways(everybody: Sequence[Owner], rows: Sequence[Listed]) -> list[_Way]:
    columns = [
        _Way("number", lambda person: _same(person.lms_id), _index((row.row, row.numbers[at : at + 1]) for row in rows))
        for at in range(max((len(row.numbers) for row in rows), default=0))
    ]
    columns.sort(key=lambda way: -sum(bool(way.matches(owner.person)) for owner in everybody))
    return [
        *columns[:1],  # a school's number may by chance be another student's on the platform, so one column is believed
        _Way("login", lambda person: _same(person.login), _index((row.row, row.logins) for row in rows)),
        _Way("e-mail address", lambda person: _same(person.email), _index((row.row, row.emails) for row in rows)),
        _Way("name", lambda person: name_forms(person.name), _names(rows)),
    ]


def _index(cells: Iterable[tuple[int, Iterable[str]]]) -> Mapping[str, frozenset[int]]:
    found: dict[str, set[int]] = defaultdict(set)
    for row, texts in cells:
        for text in texts:
            for key in _same(text):
                found[key].add(row)
    return {key: frozenset(numbers) for key, numbers in found.items()}


def _names(rows: Sequence[Listed]) -> Mapping[str, frozenset[int]]:
    found: dict[str, set[int]] = defaultdict(set)
    for row in rows:
        for name in row.names:
            for form in name_forms(name):
                found[form].add(row.row)
    return {key: frozenset(numbers) for key, numbers in found.items()}


def _same(text: str) -> tuple[str, ...]:
    folded = unicodedata.normalize("NFKC", text).strip().casefold()
    return (folded,) if folded else ()


def _plain(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKC", text).casefold() if letter.isalnum())
