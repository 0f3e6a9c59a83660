"""What each student should have on Canvas, and which of the students there that is.

A student without a score is left alone: a blank would clear what a person entered. Nothing is sent where it is not
certain whose score it is, or where sending one score would overwrite another.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from grader.handed_in import Person
from grader.post.errors import PostError
from grader.post.outcome import Outcome, State
from grader.post.plain import comment_text
from grader.post.roster import Roster, canvas_id
from grader.report import Report, Submission
from grader.student_view import student_view

_UNKNOWN = "nobody knows whose it is; grade with a roster, or import from Canvas"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What one student should have."""

    #: What to call it: the submission, and whose it is.
    label: str
    submission: str
    person: Person
    score: Decimal
    #: None where no comments are sent.
    comment: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Addressed:
    """What one student should have, and their Canvas id."""

    wanted: Wanted
    user: int


def marker(report: Report) -> str:
    """The first line of each comment, by which it is found again."""
    return f"[grade: {' '.join(report.assignment.name.split())}]"


def wanted(report: Report, today: date, *, with_comments: bool) -> Iterator[Wanted | Outcome]:
    """What every person of every submission should have; an outcome where nothing is to be sent.

    Args:
        report: the run.
        today: decides how much feedback students may see.
        with_comments: whether comments are sent.
    """
    for submission in report.submissions:
        if submission.final_score is None:
            yield Outcome(what=submission.id, state=State.LEFT_ALONE, text="there is no score")
            continue
        if not submission.people:
            yield Outcome(what=submission.id, state=State.FAILED, text=_UNKNOWN)
            continue
        text = _comment(report, submission, today) if with_comments else None
        for person in dict.fromkeys(submission.people):
            yield Wanted(
                label=_label(submission, person),
                submission=submission.id,
                person=person,
                score=submission.final_score,
                comment=text,
            )


def needs_roster(people: Iterable[Wanted]) -> bool:
    """Whether the list of the course's people tells more than the numbers that are known."""
    return any(canvas_id(one.person) is None or one.person.login or one.person.email for one in people)


def addressed(tasks: Iterable[Wanted | Outcome], roster: Roster | None) -> list[Addressed | Outcome]:
    """Find out which student each of them is.

    Args:
        tasks: see `wanted`.
        roster: of the course; may be None where it is not needed.
    """
    return _without_doubles([task if isinstance(task, Outcome) else _addressed(task, roster) for task in tasks])


def without_torn_groups(tasks: Iterable[Addressed | Outcome], groups: Mapping[int, int]) -> list[Addressed | Outcome]:
    """Leave out whoever would overwrite the score of another member of their group.

    Args:
        tasks: see `addressed`.
        groups: the group of each student, where a grade for one is a grade for all; else empty.
    """
    tasks = list(tasks)
    scores: dict[int, set[Decimal]] = {}
    for task in tasks:
        if isinstance(task, Addressed) and task.user in groups:
            scores.setdefault(groups[task.user], set()).add(task.wanted.score)
    torn = {user for user, group in groups.items() if len(scores.get(group, ())) > 1}
    text = "Canvas gives a group one grade, and its members have different scores here; set it to grade them one by one"
    return [_failed(task, text) if isinstance(task, Addressed) and task.user in torn else task for task in tasks]


def _comment(report: Report, submission: Submission, today: date) -> str:
    view = student_view(report, submission, report.assignment.feedback, today)
    return comment_text(view, marker(report))


def _label(submission: Submission, person: Person) -> str:
    name = person.label
    return submission.id if not name or name == submission.id else f"{submission.id} ({name})"


def _addressed(task: Wanted, roster: Roster | None) -> Addressed | Outcome:
    try:
        number = canvas_id(task.person) if roster is None else roster.find(task.person)
    except PostError as error:
        return Outcome(what=task.label, state=State.FAILED, text=str(error))
    if number is None:
        return Outcome(what=task.label, state=State.FAILED, text=_UNKNOWN)
    return Addressed(wanted=task, user=number)


def _without_doubles(tasks: list[Addressed | Outcome]) -> list[Addressed | Outcome]:
    """Nobody can have two scores. Who is listed twice in one submission is served once."""
    of_user: dict[int, dict[str, Addressed]] = {}
    for task in tasks:
        if isinstance(task, Addressed):
            of_user.setdefault(task.user, {}).setdefault(task.wanted.submission, task)
    kept: list[Addressed | Outcome] = []
    for task in tasks:
        if isinstance(task, Outcome):
            kept.append(task)
        elif of_user[task.user].get(task.wanted.submission) is task:
            others = [name for name in of_user[task.user] if name != task.wanted.submission]
            text = f"{' and '.join(others)} is of the same student {task.user}; nothing was sent for either"
            kept.append(_failed(task, text) if others else task)
    return kept


def _failed(task: Addressed, text: str) -> Outcome:
    return Outcome(what=task.wanted.label, state=State.FAILED, text=text)
