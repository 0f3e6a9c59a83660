"""Which submissions somebody on the staff means by a name that they typed."""

import difflib
from collections.abc import Iterable, Sequence
from typing import Protocol

from grader.handed_in import Person
from grader.people.clue import Index
from grader.people.spelling import key_of, keys_of, name_forms


class Handed(Protocol):
    """What is needed of a submission to know whose it is; `find.Found` and `report.Submission` have it."""

    @property
    def id(self) -> str: ...
    @property
    def people(self) -> tuple[Person, ...]: ...


class Called:
    """Submissions by what they may be called: their id, then a person's address, login or number, then a name."""

    def __init__(self, submissions: Sequence[Handed]) -> None:
        self._exact = Index((one.id, (one.id,)) for one in submissions)  # two may differ in capitals only
        self._ids = Index((one.id, keys_of(one.id)) for one in submissions)
        self._addresses = Index((one.id, _addresses(one.people)) for one in submissions)
        self._names = Index((one.id, _names(one.people)) for one in submissions)

    def find(self, name: str) -> tuple[str, ...]:
        """Ids of the submissions that the surest kind of name leads to; several where it is not one's alone."""
        return (
            self._exact.find((name,))
            or self._ids.find(keys_of(name))
            or self._addresses.find(keys_of(name))
            or self._names.find(name_forms(name))
        )

    def near(self, name: str, most: int) -> list[str]:
        """Ids of submissions that are called much like it, the nearest first."""
        indexes = (self._ids, self._addresses, self._names)
        known = {key: ids[0] for index in indexes for key, ids in index.items()}
        close = difflib.get_close_matches(key_of(name), known, n=most)
        return list(dict.fromkeys(known[key] for key in close))


def _addresses(people: Iterable[Person]) -> tuple[str, ...]:
    return keys_of(*(text for one in people for text in (one.email, one.login, one.lms_id)))


def _names(people: Iterable[Person]) -> tuple[str, ...]:
    return tuple(form for one in people for form in name_forms(one.name))
