"""Which submissions of a report are meant, by what somebody typed."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from grader.fault import Fault
from grader.people.called import Called
from grader.report import Report, Submission

#: Candidates and near matches that a message names.
_MOST_NAMED, _MOST_NEAR = 8, 3


class ChoiceError(Fault):
    """No submission, or not one, is meant; the text lists some that are there."""


def choose(report: Report, wanted: Sequence[str]) -> tuple[Submission, ...]:
    """The submissions meant, in the report's order; all of them when nothing is wanted in particular.

    Args:
        report: the report.
        wanted: ids, globs of ids, or a name, address, login or number of one of a submission's people.

    Raises:
        ChoiceError: one of them means nothing in the report.
    """
    if not wanted:
        return report.submissions
    called, ids = Called(report.submissions), set[str]()
    for one in wanted:
        found = _meant(report, called, one)
        if not found:
            near = called.near(one, _MOST_NEAR)
            told = f"near: {', '.join(near)}" if near else f"there are {_listed(report.submissions)}"
            raise ChoiceError(f"--student {one}: no submission of the report is meant by it; {told}")
        ids |= found
    return tuple(submission for submission in report.submissions if submission.id in ids)


def choose_one(report: Report, wanted: Sequence[str]) -> Submission:
    """The one submission that is meant. Raises ChoiceError as `choose` does, and where there are several, or none."""
    found = choose(report, wanted)
    if len(found) == 1:
        return found[0]
    if not found:
        raise ChoiceError("the report holds no submission")
    raise ChoiceError(
        f"{len(found)} submissions are meant, and this is made for one: choose it with --student ({_listed(found)})"
    )


def _listed(submissions: Sequence[Submission]) -> str:
    names = ", ".join(submission.id for submission in submissions[:_MOST_NAMED])
    more = f" and {len(submissions) - _MOST_NAMED} more" if len(submissions) > _MOST_NAMED else ""
    return f"{names}{more}" or "none"


def _meant(report: Report, called: Called, one: str) -> set[str]:
    """By id, else as a glob, else as staff call people."""
    ids = {submission.id for submission in report.submissions}
    return ids & {one} or {name for name in ids if fnmatchcase(name, one)} or set(called.find(one))
