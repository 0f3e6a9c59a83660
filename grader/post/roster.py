"""Who is who on Canvas: the students of a course, found by what names one of them alone."""

from collections.abc import Iterable, Mapping
from typing import Any

from grader.handed_in import Person
from grader.post.errors import PostError


class Roster:
    """The students of a course, by what names one of them alone."""

    def __init__(self, users: Iterable[Mapping[str, Any]]) -> None:
        self._by_name: dict[str, set[int]] = {}
        for user in users:
            number = number_of(user)
            for field in ("login_id", "sis_user_id", "email"):
                name = user.get(field)
                if number is not None and isinstance(name, str) and name.strip():
                    self._by_name.setdefault(name.strip().casefold(), set()).add(number)

    def find(self, person: Person) -> int:
        """The Canvas id of somebody.

        Raises:
            PostError: nobody has their login or address, or several have.
        """
        names = [name.strip() for name in (person.login, person.email, person.lms_id) if name.strip()]
        for name in names:
            found = self._by_name.get(name.casefold(), set())
            if len(found) > 1:
                raise PostError(f"several students of the course are {name!r}; give their Canvas id in the roster")
            if found:
                return next(iter(found))
        known = " or ".join(map(repr, names)) or "a name alone"
        raise PostError(f"nobody in the course on Canvas has {known} as login or e-mail address")


def number_of(record: Mapping[str, Any], name: str = "id") -> int | None:
    """A number, which Canvas sends as a string where it is too large for JavaScript."""
    found = record.get(name)
    if isinstance(found, str) and found.isascii() and found.isdigit():
        return int(found)
    return found if isinstance(found, int) and not isinstance(found, bool) else None
