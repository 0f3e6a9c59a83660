"""Whose row is whose: the people of a report among the rows of a gradebook.

A wrong row is worse than none. A number decides before a login, a login before an address, an address before a name;
whatever points at two rows, or is contradicted, places nobody and is said.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from grader.handed_in import Person
from grader.people.clue import Clue, Contradiction, Index, follow
from grader.people.spelling import keys_of, name_forms
from grader.report import Submission

#: The way that is none beside others: several people may have one name.
_NAME = "name"


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


@dataclass(frozen=True, slots=True)
class _Way:
    """One thing that a person and a row may share."""

    name: str
    of_person: Callable[[Person], Sequence[str]]
    rows: Index[int]

    def clue(self, person: Person) -> Clue[int]:
        """Rows that share it with a person."""
        return Clue(way=self.name, found=self.rows.find(self.of_person(person)))

    def is_spoken(self, owners: Iterable[Owner]) -> bool:
        """Whether it tells some person of the report apart: then having no row by it means to have none."""
        return any(not owner.is_guessed and self.clue(owner.person).found for owner in owners)


def _row(owner: Owner, ways: Sequence[_Way], spoken: set[str]) -> frozenset[int] | str:
    """The rows by the first way that knows any; the reason where none does, or where another way contradicts."""
    clues = [way.clue(owner.person) for way in ways]
    for way, clue in zip(ways, clues, strict=True):
        if clue.found:
            sure = [other for other in clues if other is clue or other.way != _NAME]
            found = follow(sure)
            if isinstance(found, Contradiction):
                return (
                    f"is one row by {found.first.way} and another by {' and '.join(one.way for one in found.against)}"
                )
            return frozenset(found)
        if way.name in spoken and way.of_person(owner.person):
            return f"has no row (looked for by {way.name})"
    return "has no row"


def _guessed(owner: Owner, ways: Sequence[_Way]) -> frozenset[int] | str:
    """All rows that the submission's name may mean, in whatever way."""
    rows = frozenset(row for way in ways for row in way.clue(owner.person).found)
    return rows or "has no row of this name, and the report does not say whose it is (grade with a roster)"


def _ways(everybody: Sequence[Owner], rows: Sequence[Listed]) -> list[_Way]:
    columns = [
        _Way(
            "number",
            lambda person: keys_of(person.lms_id),
            Index((row.row, keys_of(*row.numbers[at : at + 1])) for row in rows),
        )
        for at in range(max((len(row.numbers) for row in rows), default=0))
    ]
    columns.sort(key=lambda way: -sum(bool(way.clue(owner.person).found) for owner in everybody))
    names = Index((row.row, [form for name in row.names for form in name_forms(name)]) for row in rows)
    return [
        *columns[:1],  # a school's number may by chance be another student's on the platform, so one column is believed
        _Way("login", lambda person: keys_of(person.login), Index((row.row, keys_of(*row.logins)) for row in rows)),
        _Way(
            "e-mail address",
            lambda person: keys_of(person.email),
            Index((row.row, keys_of(*row.emails)) for row in rows),
        ),
        _Way(_NAME, lambda person: name_forms(person.name), names),
    ]
