"""Which submissions of a report are meant, by what somebody typed."""

import difflib
from collections.abc import Sequence
from fnmatch import fnmatchcase

from grader.export.error import ExportError
from grader.report import Report, Submission

#: Near matches and candidates that a message names.
_MOST_NAMED = 8


def choose(report: Report, wanted: Sequence[str]) -> tuple[Submission, ...]:
    """The submissions meant, in the report's order; all of them when nothing is wanted in particular.

    Args:
        report: the report.
        wanted: ids, globs of ids, or a name, address, login or number of one of a submission's people.

    Raises:
        ExportError: one of them means nothing in the report.
    """
    if not wanted:
        return report.submissions
    ids = set[str]()
    for one in wanted:
        found = _meant(report, one)
        if not found:
            close = difflib.get_close_matches(one, _words(report), n=3, cutoff=0.5)
            near = f"; near: {', '.join(close)}" if close else ""
            raise ExportError(f"--student {one}: no submission of the report is meant by it{near}")
        ids |= found
    return tuple(submission for submission in report.submissions if submission.id in ids)


def choose_one(report: Report, wanted: Sequence[str]) -> Submission:
    """The one submission that is meant. Raises ExportError as `choose` does, and where there are several, or none."""
    found = choose(report, wanted)
    if len(found) == 1:
        return found[0]
    if not found:
        raise ExportError("the report holds no submission")
    names = ", ".join(submission.id for submission in found[:_MOST_NAMED])
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    raise ExportError(
        f"{len(found)} submissions are meant, and this is made for one: choose it with --student ({names}{more})"
    )


def _meant(report: Report, one: str) -> set[str]:
    """By id, else as a glob, else by a person."""
    ids = {submission.id for submission in report.submissions}
    return (
        ids & {one}
        or {name for name in ids if fnmatchcase(name, one)}
        or {submission.id for submission in report.submissions if one in _people(submission)}
    )


def _people(submission: Submission) -> set[str]:
    return {text for one in submission.people for text in (one.name, one.email, one.lms_id, one.login) if text}


def _words(report: Report) -> list[str]:
    return [word for one in report.submissions for word in (one.id, *sorted(_people(one)))]
