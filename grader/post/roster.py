"""Who is who on Canvas: the students of a course, found by what names one of them alone."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from grader.handed_in import Person
from grader.people.clue import Clue, Contradiction, Index, follow
from grader.people.spelling import keys_of
from grader.post.errors import PostError


class Roster:
    """The students of a course, by number and by what names one of them alone."""

    def __init__(self, users: Iterable[Mapping[str, Any]]) -> None:
        known = [(number, user) for user in users if (number := number_of(user)) is not None]
        self._numbers = frozenset(number for number, _ in known)
        self._names = Index((number, keys_of(*_names(user))) for number, user in known)

    def find(self, person: Person) -> int:
        """The Canvas id of somebody.

        A number may be that of another platform, or a school's own: it must not contradict login and address, and they
        must not contradict each other.

        Raises:
            PostError: nobody has their login, address or number, several have, or they are of different students.
        """
        number = canvas_id(person)
        names = [name.strip() for name in (person.login, person.email) if name.strip()]
        clues = [self._clue(name) for name in names]
        if number is not None and number in self._numbers:
            clues.insert(0, Clue(way="number", text=str(number), found=(number,)))
        found = self._followed(clues)
        if found is None and person.lms_id.strip():
            names.append(person.lms_id.strip())
            found = self._followed([self._clue(names[-1])])
        if found is None and number is not None and len(names) == 1:
            return number  # of somebody who is no longer listed; Canvas says whether it is anybody
        if found is None:
            known = " or ".join(map(repr, names)) or "a name alone"
            raise PostError(f"nobody in the course on Canvas has {known} as login, e-mail address or number")
        return found

    def _followed(self, clues: Sequence[Clue[int]]) -> int | None:
        """Whom the surest leads to, None where none leads anywhere. Raises PostError where that is not certain."""
        found = follow(clues)
        if isinstance(found, Contradiction):
            one, other = found.first, found.against[0]
            first = f"{one.text} is the Canvas id" if one.way == "number" else f"{one.text!r} is the name"
            raise PostError(f"{first} of one student, and {other.text!r} is another, {other.found[0]}")
        if len(found) > 1:
            name = next(clue.text for clue in clues if clue.found)
            raise PostError(f"several students of the course are {name!r}; give their Canvas id in the roster")
        return found[0] if found else None

    def _clue(self, name: str) -> Clue[int]:
        """Who has a login, an address or a number."""
        return Clue(way="name", text=name, found=self._names.find(keys_of(name)))


def _names(user: Mapping[str, Any]) -> Iterator[str]:
    """What names a student alone."""
    for field in ("login_id", "sis_user_id", "email"):
        name = user.get(field)
        if isinstance(name, str):
            yield name


def canvas_id(person: Person) -> int | None:
    """The number that a roster or an export gave, as a Canvas id; None for what is none."""
    text = person.lms_id.strip()
    return int(text) if text.isascii() and text.isdigit() else None


def number_of(record: Mapping[str, Any], name: str = "id") -> int | None:
    """A number, which Canvas sends as a string where it is too large for JavaScript."""
    found = record.get(name)
    if isinstance(found, str) and found.isascii() and found.isdigit():
        return int(found)
    return found if isinstance(found, int) and not isinstance(found, bool) else None
