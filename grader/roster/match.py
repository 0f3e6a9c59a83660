"""Which submission is whose: by the platform's number, login or e-mail address; else by name, where that is certain.

Certain is what leads to one person alone, and to nobody whom another submission has by a number or an address. Two
people of one name are never told apart by guessing.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grader.find import Found
from grader.handed_in import Person
from grader.record import clean_text
from grader.roster.read import Entry

_Index = Mapping[str, Sequence[Entry]]
_Keys = Iterable[tuple[_Index, str]]
_NO_LETTER = re.compile(r"[\W_]+")
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
    for one in found:
        for person in one.people or (None,):
            entry = _only(known.by_number(one, person))
            if entry:
                _add(matches, one, Match(entry=entry, person=person))
            else:
                waiting.append((one, person))
    _match_names(known, waiting, matches)
    for one in found:
        if one.id not in matches.by_submission and len(one.people) <= 1:
            for entry in known.group(one):
                _add(matches, one, Match(entry=entry, person=None))
    return matches


def _match_names(known: "_Known", waiting: Iterable[tuple[Found, Person | None]], matches: Matches) -> None:
    """By name, those whom no number has led to; a name that several submissions lay claim to is nobody's."""
    taken = matches.lines
    claims: dict[int, list[tuple[Found, Match]]] = defaultdict(list)
    for one, person in waiting:
        keys = list(known.by_name(one, person))
        entry = _only(keys)
        if entry is None and (same := _several(keys)):
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
        self._ids = [_index(entries, lambda entry: entry.ids[:1]), _index(entries, lambda entry: entry.ids[1:])]
        self._logins = _index(entries, lambda entry: map(str.casefold, entry.logins))
        self._emails = _index(entries, lambda entry: [entry.person.email.casefold()])
        self._mailboxes = _index(entries, lambda entry: [entry.person.email.casefold().partition("@")[0]])
        self._names = _index(entries, lambda entry: _spellings(entry.person.name))
        self._groups = _index(entries, lambda entry: map(_plain, entry.groups))

    def by_number(self, found: Found, person: Person | None) -> Iterator[tuple[_Index, str]]:
        """What is somebody's alone, the surest first."""
        id = _folded(found.id)
        if person is None:
            yield from ((index, found.id) for index in self._ids)
            yield from ((self._logins, id), (self._emails, id))
            return
        yield from ((index, person.lms_id) for index in self._ids)
        if person.login:  # the name of a clone: which hyphen the user begins behind is a guess, so the longest first
            yield from ((self._logins, tail) for tail in _tails(id))
        yield from ((self._logins, person.login.casefold()), (self._emails, person.email.casefold()))

    def by_name(self, found: Found, person: Person | None) -> Iterator[tuple[_Index, str]]:
        """What people are called, and folders after them."""
        if person and person.name:
            yield from ((self._names, spelling) for spelling in _spellings(person.name))
            return
        id = _folded(found.id)
        yield from ((self._logins, tail) for tail in _tails(id))
        yield self._mailboxes, id
        yield from ((self._names, spelling) for spelling in _spellings(_without_number(found, person)))

    def group(self, found: Found) -> Sequence[Entry]:
        """The members of the group that a submission is called after."""
        person = found.people[0] if found.people else None
        name = person.name if person and person.name else _without_number(found, person)
        return self._groups.get(_plain(name), ())


def _index(entries: Iterable[Entry], keys: Callable[[Entry], Iterable[str]]) -> _Index:
    index: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        for key in dict.fromkeys(keys(entry)):
            if key:
                index[key].append(entry)
    return dict(index)


def _only(keys: _Keys) -> Entry | None:
    """The entry that the first fitting key leads to, if to one alone."""
    for index, key in keys:
        if found := index.get(key, ()) if key else ():
            return found[0] if len(found) == 1 else None
    return None


def _several(keys: _Keys) -> Sequence[Entry]:
    """The entries that the first fitting key leads to."""
    return next((index[key] for index, key in keys if key and key in index), ())


def _without_number(found: Found, person: Person | None) -> str:
    """What a submission is called, without the platform's number behind it."""
    return found.id.removesuffix(f"_{person.lms_id}") if person and person.lms_id else found.id


def _tails(id: str) -> list[str]:
    """What stands behind each hyphen, the longest first."""
    return [id[part.end() :] for part in _PART.finditer(id)]


def _spellings(name: str) -> list[str]:
    """A name as people and platforms write it: in either order, and without accents."""
    words = name.replace(",", " ").split()
    orders = [words, [*words[-1:], *words[:-1]]] if len(words) > 1 else [words]
    plain = [_plain(" ".join(order)) for order in orders]
    return [one for one in dict.fromkeys([*plain, *map(_without_accents, plain)]) if one]


def _plain(text: str) -> str:
    return _NO_LETTER.sub("", _folded(text))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _without_accents(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))
