"""Grades and comments on Canvas: for each student, the difference between what should be there and what is.

A student who cannot be served is reported, and the others get theirs all the same. A run that was interrupted is run
again: it reads what is there, and goes on.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Any

from grader.post.address import Address
from grader.post.comment import same_text
from grader.post.errors import PostError, Refused, Unreachable, WrongUse
from grader.post.gradebook import AssignmentOnCanvas, Entry, Gradebook, Place
from grader.post.http import Client
from grader.post.outcome import Outcome, State
from grader.post.roster import canvas_id
from grader.post.wanted import Addressed, Wanted, addressed, needs_roster, without_torn_groups

TOKENS = ("CANVAS_TOKEN",)
HEADERS = {"Accept": "application/json"}
#: Students in a row for whom there is no answer, before the server is taken to be down.
_MOST_UNANSWERED = 3
_NOT_TRIED = "not tried, because Canvas gave no answer for those before; run this again, and it goes on from here"

Tell = Callable[[Outcome], None]


def post(
    client: Client, book: Gradebook, tasks: Iterable[Wanted | Outcome], max_score: Decimal | None, tell: Tell
) -> None:
    """Send what is missing or different, student by student.

    Args:
        client: Canvas.
        book: the assignment there.
        tasks: see `wanted.wanted`.
        max_score: points of the report, which the assignment must have too; None sends scores whatever it has.
        tell: hears of each student as soon as it is settled.

    Raises:
        PostError: nothing can be sent at all.
    """
    found = list(tasks)
    people = [task for task in found if isinstance(task, Wanted)]
    try:
        there = book.assignment()
        _must_be_out_of(max_score, there)
        known = addressed(found, book.roster() if needs_roster(people) else None)
        known = without_torn_groups(known, book.groups() if there.grades_groups else {})
        with_comments = any(one.comment is not None for one in people)
        entries = book.entries(with_comments=with_comments)
    except Refused as refused:
        raise PostError(_about_all(refused)) from None
    serve = _Serving(client, book, entries, with_comments)
    for task in known:
        tell(task if isinstance(task, Outcome) else serve.one(task))


def body_of(one: Wanted, there: Entry) -> dict[str, Any]:
    """What is to be sent for a student in one request; empty where nothing is."""
    body: dict[str, Any] = {}
    if there.score != one.score:
        body["submission"] = {"posted_grade": f"{one.score:.2f}"}
    if one.comment is not None and not there.comments:
        body["comment"] = {"text_comment": one.comment}
    return body


def planned(base: Address, place: Place, one: Wanted) -> tuple[str, str, Any]:
    """Method, address and body of what would be sent where nothing is there yet."""
    user = canvas_id(one.person)
    who = f"(the student with {one.person.login or one.person.email or one.person.label})" if user is None else user
    return "PUT", f"{base}{place.path}/submissions/{who}", body_of(one, Entry())


class _Serving:
    """One round over the class."""

    def __init__(self, client: Client, book: Gradebook, entries: dict[int, Entry], with_comments: bool) -> None:
        self._client, self._book, self._entries, self._with_comments = client, book, entries, with_comments
        #: Students of whom nobody knows what they have, because an answer got lost.
        self._doubtful: set[int] = set()
        self._unanswered = 0

    def one(self, task: Addressed) -> Outcome:
        """Serve one student."""
        label = task.wanted.label
        if self._unanswered >= _MOST_UNANSWERED:
            return Outcome(what=label, state=State.FAILED, text=_NOT_TRIED)
        done: list[str] = []  # in all attempts, of which a later one finds what an earlier one did
        try:
            self._client.settle(lambda: self._step(task, done))
        except PostError as error:
            is_silent = isinstance(error, Unreachable) or (isinstance(error, Refused) and error.status >= 500)
            self._unanswered = self._unanswered + 1 if is_silent else 0
            return Outcome(what=label, state=State.FAILED, text=_about_one(error, task.user))
        self._unanswered = 0
        return self._outcome(task, done)

    def _step(self, task: Addressed, done: list[str]) -> None:
        """Look, and send what is missing. Raises Unsure when an answer got lost: then look again."""
        user, one = task.user, task.wanted
        if user in self._doubtful:
            self._entries[user] = self._book.entry(user, with_comments=self._with_comments)
        there = self._entries.get(user, Entry())
        if there.is_excused:
            return
        body = body_of(one, there)
        if body:
            done.extend(_done(body, there))
            self._doubtful.add(user)
            for number, entry in self._book.send(user, body).items():
                before = self._entries.get(number, Entry())
                self._entries[number] = replace(entry, comments=before.comments)
            self._doubtful.discard(user)
        if one.comment is not None and there.comments and not same_text(there.comments[0].text, one.comment):
            self._book.edit(user, there.comments[0].id, one.comment)
            done.append("comment edited")
        if one.comment is not None:
            for comment in there.comments[1:]:
                self._book.delete(user, comment.id)
                done.append("older comment deleted")

    def _outcome(self, task: Addressed, done: list[str]) -> Outcome:
        label, score = task.wanted.label, task.wanted.score
        there = self._entries.get(task.user, Entry())
        if there.is_excused:
            return Outcome(what=label, state=State.LEFT_ALONE, text="excused on Canvas")
        if there.score is not None and there.score != score:
            return Outcome(
                what=label, state=State.FAILED, text=f"Canvas keeps {there.score:.2f} instead of {score:.2f}"
            )
        late = f"; Canvas itself takes {there.deducted:.2f} off for being late" if there.deducted else ""
        if not done:
            return Outcome(what=label, state=State.UNCHANGED, text=f"{score:.2f}{late}")
        return Outcome(what=label, state=State.SENT, text=f"{score:.2f} ({', '.join(dict.fromkeys(done))}){late}")


def _done(body: dict[str, Any], there: Entry) -> list[str]:
    words = {"submission": f"grade, was {'none' if there.score is None else there.score}", "comment": "comment"}
    return [words[part] for part in body]


def _must_be_out_of(max_score: Decimal | None, there: AssignmentOnCanvas) -> None:
    if max_score is not None and there.max_score is not None and there.max_score != max_score:
        raise WrongUse(
            f"the assignment on Canvas is out of {there.max_score:.2f} points, the report out of {max_score:.2f}; "
            "change the points there, or send the scores as they are with --any-points"
        )


def _about_all(refused: Refused) -> str:
    reasons = {
        401: "the token is not accepted, or may not grade in this course (CANVAS_TOKEN)",
        403: "the token may not grade in this course",
        404: "no such course or assignment, or the token may not see it; look at --url, --course and --assignment",
    }
    reason = reasons.get(refused.status)
    return f"{reason}. {refused}" if reason else str(refused)


def _about_one(error: PostError, user: int) -> str:
    if not isinstance(error, Refused):
        return str(error)
    reasons = {
        401: f"the token may not grade student {user}, or the assignment is not theirs",
        403: f"the token may not grade student {user}, or the assignment is not theirs",
        404: f"student {user} is not in this assignment",
    }
    reason = reasons.get(error.status)
    return f"{reason}. {error}" if reason else str(error)
