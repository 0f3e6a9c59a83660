"""What stands on Canvas: an assignment, what each student has there, and who takes part in the course.

Sources: Canvas REST API, "Submissions" (list, and grade or comment on a submission), "Submission Comments",
"Courses" (list users), "Assignments". A course's late policy is Canvas's own: `entered_score` is what was sent,
`score` what is left of it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Self
from urllib.parse import quote

from grader.post.errors import Refused, Unreachable, WrongUse
from grader.post.http import Client
from grader.post.roster import Roster, number_of
from grader.record import round_score

_NUMBER = re.compile(r"\d{1,20}")
#: As in "sis_course_id:CS-101": Canvas takes such names wherever it takes numbers.
_NAME = re.compile(r"[a-z_]{1,40}id:[^/?#]{1,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An assignment on Canvas."""

    course: str
    assignment: str

    @classmethod
    def parse(cls, course: str, assignment: str) -> Self:
        """Read the two numbers. Raises WrongUse for what is neither a number nor a name such as `sis_course_id:X`."""
        for option, text in (("--course", course), ("--assignment", assignment)):
            if not (text.isascii() and _NUMBER.fullmatch(text)) and not _NAME.fullmatch(text):
                raise WrongUse(f"{option}: got {text!r}, wanted the number in the page's address")
        return cls(course=course, assignment=assignment)

    @property
    def course_path(self) -> str:
        """Of the course, in the API."""
        return f"/api/v1/courses/{quote(self.course, safe=':')}"

    @property
    def path(self) -> str:
        """Of the assignment, in the API."""
        return f"{self.course_path}/assignments/{quote(self.assignment, safe=':')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """A comment of one's own."""

    id: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What Canvas has of one student."""

    #: What was entered, to cents; None where nothing is.
    score: Decimal | None = None
    is_excused: bool = False
    #: What Canvas itself takes off for being late.
    deducted: Decimal = Decimal(0)
    group: int | None = None
    #: Those of one's own that begin with the marker, the oldest first.
    comments: tuple[Comment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentOnCanvas:
    """What decides whether scores can be sent as they are."""

    name: str
    max_score: Decimal | None
    #: Whether a grade for one member is a grade for all of the group.
    grades_groups: bool


class Gradebook:
    """One assignment of a course on Canvas."""

    def __init__(self, client: Client, place: Place, marker: str) -> None:
        self._client, self._marker = client, marker
        self._course, self._assignment = place.course_path, place.path
        self._self: int | None = None

    def assignment(self) -> AssignmentOnCanvas:
        """The assignment. Raises PostError."""
        found = self._client.get(self._assignment).mapping()
        return AssignmentOnCanvas(
            name=str(found.get("name", "")),
            max_score=_points(found.get("points_possible")),
            grades_groups=bool(found.get("group_category_id")) and not found.get("grade_group_students_individually"),
        )

    def entries(self, *, with_comments: bool) -> dict[int, Entry]:
        """What all students have, by user id. Raises PostError."""
        include = {"include[]": "submission_comments"} if with_comments else {}
        if with_comments and self._self is None:
            self._self = number_of(self._client.get("/api/v1/users/self").mapping())
        listed = self._client.pages(f"{self._assignment}/submissions", **include)
        return {user: self._entry(one) for one in listed if (user := number_of(one, "user_id")) is not None}

    def entry(self, user: int, *, with_comments: bool) -> Entry:
        """What one student has, read afresh. Raises PostError."""
        include = {"include[]": "submission_comments"} if with_comments else {}
        return self._entry(self._client.get(self._path(user), **include).mapping())

    def groups(self) -> dict[int, int]:
        """The group of each student, where there are groups. Raises PostError."""
        listed = self._client.pages(f"{self._assignment}/submissions", **{"include[]": "group"})
        found = {}
        for one in listed:
            user, group = number_of(one, "user_id"), one.get("group")
            number = number_of(group) if isinstance(group, dict) else None
            if user is not None and number is not None:
                found[user] = number
        return found

    def roster(self) -> Roster:
        """Who takes part in the course. Raises PostError."""
        students = {"enrollment_type[]": "student", "include[]": "email"}
        return Roster(self._client.pages(f"{self._course}/users", **students))

    def send(self, user: int, body: Mapping[str, object]) -> Mapping[int, Entry]:
        """Grade or comment; a comment is sent once only.

        Returns:
            What Canvas now has of this student, and of others that it graded with them.

        Raises:
            PostError: it was not done; or Unsure, when nobody knows.
        """
        is_repeatable = "comment" not in body
        found = self._client.send("PUT", self._path(user), body, is_repeatable=is_repeatable).mapping()
        others = found.get("all_submissions")
        every = [*(one for one in (others if isinstance(others, list) else []) if isinstance(one, dict)), found]
        return {number: self._entry(one) for one in every if (number := number_of(one, "user_id")) is not None}

    def edit(self, user: int, comment: int, text: str) -> None:
        """Replace the text of a comment. Raises PostError."""
        self._client.send("PUT", f"{self._path(user)}/comments/{comment}", {"comment": text})

    def delete(self, user: int, comment: int) -> None:
        """Take a comment away. Raises PostError."""
        try:
            self._client.send("DELETE", f"{self._path(user)}/comments/{comment}")
        except Refused as refused:
            if refused.status != 404:  # the answer of a first attempt got lost
                raise

    def _path(self, user: int) -> str:
        return f"{self._assignment}/submissions/{user}"

    def _entry(self, found: Mapping[str, Any]) -> Entry:
        entered = _points(found.get("entered_score"))
        listed = found.get("submission_comments")
        own = [comment for comment in (listed if isinstance(listed, list) else []) if self._is_own(comment)]
        return Entry(
            score=_points(found.get("score")) if entered is None else entered,
            is_excused=found.get("excused") is True,
            deducted=_points(found.get("points_deducted")) or Decimal(0),
            comments=tuple(Comment(id=_id_of(one), text=one["comment"]) for one in sorted(own, key=_id_of)),
        )

    def _is_own(self, comment: object) -> bool:
        """Students may comment too, and write what they like in the first line."""
        if not isinstance(comment, dict) or number_of(comment) is None or not isinstance(comment.get("comment"), str):
            return False
        first = comment["comment"].lstrip().splitlines()[:1]
        return self._self is not None and comment.get("author_id") == self._self and first == [self._marker]


def _id_of(record: Mapping[str, Any]) -> int:
    return number_of(record) or 0


def _points(found: object) -> Decimal | None:
    if found is None or isinstance(found, bool):
        return None
    try:
        return round_score(Decimal(str(found)))
    except InvalidOperation:
        raise Unreachable("Canvas gave a score that is no number") from None
