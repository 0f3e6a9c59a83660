"""Which submission is whose: by the platform's number, login or e-mail address; else by name, where that is certain.

Certain is what leads to one person alone, is contradicted by nothing else, and leads to nobody whom another submission
has by a number or an address. Two people of one name are never told apart by guessing.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from grader.find import Found
from grader.handed_in import Person
from grader.people.clue import Clue, Contradiction, Index, follow
from grader.people.spelling import forms_in_either_order, keys_of, letters_of, without_accents
from grader.record import clean_text
from grader.roster.read import Entry

#: Entries by a name, the likeliest first.
_Guesses = Iterable[tuple[Entry, ...]]
#: What stands in a clone's name between the assignment and the user.
_PART = re.compile(r"[-_ ]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Somebody on the roster, and who of a submission that is; None where the platform named nobody."""

    entry: Entry
    person: Person | None


@dataclass(slots=True)
class Matches:
    """Whose the submissions of a class are."""

    #: By id of the submission; it has no entry where nobody was found.
    by_submission: dict[str, list[Match]] = field(default_factory=lambda: defaultdict(list))
    #: What was not certain, for a person to decide.
    remarks: list[str] = field(default_factory=list)

    @property
    def lines(self) -> set[int]:
        """Lines of the roster whose people have a submission."""
        return {match.entry.line for matches in self.by_submission.values() for match in matches}


def match(found: Sequence[Found], entries: Sequence[Entry]) -> Matches:
    """Find the people of every submission on the roster."""
    known, matches = _Known(entries), Matches()
    waiting: list[tuple[Found, Person | None]] = []
    contradicted = set[str]()
    for one in found:
        for person in one.people or (None,):
            owners = follow(known.by_number(one, person))
            if isinstance(owners, Contradiction):
                matches.remarks.append(f"{one.id}: {_told(owners)}; nobody was chosen")
                contradicted.add(one.id)
            elif entry := _only(owners):
                _add(matches, one, Match(entry=entry, person=person))
            else:
                waiting.append((one, person))
    _match_names(known, waiting, matches)
    for one in found:
        if len(one.people) <= 1 and one.id not in contradicted and one.id not in matches.by_submission:
            for entry in known.group(one):
                _add(matches, one, Match(entry=entry, person=None))
    return matches


def _match_names(known: "_Known", waiting: Iterable[tuple[Found, Person | None]], matches: Matches) -> None:
    """By name, those whom no number has led to; a name that several submissions lay claim to is nobody's."""
    taken = matches.lines
    claims: dict[int, list[tuple[Found, Match]]] = defaultdict(list)
    for one, person in waiting:
        same = next(filter(None, known.by_name(one, person)), ())
        entry = _only(same)
        if len(same) > 1:
            lines = " and ".join(str(other.line) for other in same)
            matches.remarks.append(f"{one.id}: lines {lines} have that name; nobody was chosen")
        elif entry and entry.line in taken:
            matches.remarks.append(
                f"{one.id}: {clean_text(entry.person.label)} on line {entry.line} has another submission by number or "
                "address, so this one is somebody else's of that name"
            )
        elif entry:
            claims[entry.line].append((one, Match(entry=entry, person=person)))
    for line, claimed in claims.items():
        if len({one.id for one, _ in claimed}) == 1:
            _add(matches, *claimed[0])
        else:
            ids = " and ".join(one.id for one, _ in claimed)
            matches.remarks.append(f"{ids} have one name, that of line {line}; nobody was chosen")


def _add(matches: Matches, found: Found, match: Match) -> None:
    if all(match.entry.line != other.entry.line for other in matches.by_submission[found.id]):
        matches.by_submission[found.id].append(match)


class _Known:
    """The entries of a roster by everything they can be found by."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        def index(keys: Callable[[Entry], Iterable[str]]) -> Index[Entry]:
            return Index((entry, keys(entry)) for entry in entries)

        self._ids = index(lambda entry: keys_of(*entry.ids[:1]))
        self._other_ids = index(lambda entry: keys_of(*entry.ids[1:]))
        self._logins = index(lambda entry: keys_of(*entry.logins))
        self._emails = index(lambda entry: keys_of(entry.person.email))
        self._mailboxes = index(lambda entry: keys_of(entry.person.email.partition("@")[0]))
        self._names = index(lambda entry: _spellings(entry.person.name))
        self._groups = index(lambda entry: map(letters_of, entry.groups))

    def by_number(self, found: Found, person: Person | None) -> Iterator[Clue[Entry]]:
        """What is somebody's alone, the surest first."""
        number = found.id if person is None else person.lms_id
        login = found.id if person is None else person.login
        email = found.id if person is None else person.email
        # the platform's own number first: a school's may by chance be another student's there
        yield Clue(way="number", found=self._ids.find(keys_of(number)) or self._other_ids.find(keys_of(number)))
        # the name of a clone: which hyphen the user begins behind is a guess, so the longest first
        logins = [*(_tails(found.id) if person and login else ()), login]
        users = (self._logins.find(keys_of(one)) for one in logins)
        yield Clue(way="login", found=next(filter(None, users), ()))
        yield Clue(way="e-mail address", found=self._emails.find(keys_of(email)))

    def by_name(self, found: Found, person: Person | None) -> _Guesses:
        """What people are called, and folders after them."""
        if person and person.name:
            yield from self._called(person.name)
            return
        yield from (self._logins.find(keys_of(tail)) for tail in _tails(found.id))
        yield self._mailboxes.find(keys_of(found.id))
        yield from self._called(_without_number(found, person))

    def _called(self, name: str) -> _Guesses:
        return (self._names.find((spelling,)) for spelling in _spellings(name))

    def group(self, found: Found) -> Sequence[Entry]:
        """The members of the group that a submission is called after."""
        person = found.people[0] if found.people else None
        name = person.name if person and person.name else _without_number(found, person)
        return self._groups.find((letters_of(name),))


def _only(entries: Sequence[Entry]) -> Entry | None:
    return entries[0] if len(entries) == 1 else None


def _told(contradiction: Contradiction[Entry]) -> str:
    """Lines by what led to them."""
    clues = [contradiction.first, *contradiction.against]
    return " and ".join(f"line {clue.found[0].line} has its {clue.way}" for clue in clues)


def _without_number(found: Found, person: Person | None) -> str:
    """What a submission is called, without the platform's number behind it."""
    return found.id.removesuffix(f"_{person.lms_id}") if person and person.lms_id else found.id


def _tails(id: str) -> list[str]:
    """What stands behind each hyphen, the longest first."""
    return [id[part.end() :] for part in _PART.finditer(id)]


def _spellings(name: str) -> list[str]:
    """A name as people and platforms write it: in either order, and without accents."""
    forms = forms_in_either_order(name)
    return list(dict.fromkeys([*forms, *map(without_accents, forms)]))
