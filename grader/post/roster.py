"""Who is who on Canvas: the students of a course, found by what names one of them alone."""

from collections.abc import Iterable, Mapping
from typing import Any

from grader.handed_in import Person
from grader.post.errors import PostError


class Roster:
    """The students of a course, by number and by what names one of them alone."""

    def __init__(self, users: Iterable[Mapping[str, Any]]) -> None:
        self._numbers: set[int] = set()
        self._by_name: dict[str, set[int]] = {}
        for user in users:
            number = number_of(user)
            if number is None:
                continue
            self._numbers.add(number)
            for field in ("login_id", "sis_user_id", "email"):
                name = user.get(field)
                if isinstance(name, str) and name.strip():
                    self._by_name.setdefault(name.strip().casefold(), set()).add(number)

    def find(self, person: Person) -> int:
        """The Canvas id of somebody.

        A number may be that of another platform, or a school's own: it must not contradict login and address.

        Raises:
            PostError: nobody has their login, address or number, several have, or they are of different students.
        """
        number = canvas_id(person)
        names = [name.strip() for name in (person.login, person.email) if name.strip()]
        found = self._of_first(names)
        if number is not None and number in self._numbers:
            if found is not None and found != number:
                raise PostError(f"{number} is the Canvas id of one student, and {names[0]!r} is another, {found}")
            return number
        if found is None and person.lms_id.strip():
            names.append(person.lms_id.strip())
            found = self._of_first(names[-1:])
        if found is None and number is not None and len(names) == 1:
            return number  # of somebody who is no longer listed; Canvas says whether it is anybody
        if found is None:
            known = " or ".join(map(repr, names)) or "a name alone"
            raise PostError(f"nobody in the course on Canvas has {known} as login, e-mail address or number")
        return found

    def _of_first(self, names: Iterable[str]) -> int | None:
        """Who has the first of these names that anybody has."""
        for name in names:
            found = self._by_name.get(name.casefold(), set())
            if len(found) > 1:
                raise PostError(f"several students of the course are {name!r}; give their Canvas id in the roster")
            if found:
                return next(iter(found))
        return None


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
