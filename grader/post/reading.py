"""What is posted: the one submission of a report that a pull request is about, and where it lies in the repository."""

import difflib

from grader.post.errors import WrongUse
from grader.report import Report, Submission

#: Names of submissions in a message.
_MOST_NAMES = 10


def choose(report: Report, student: str | None) -> Submission:
    """The submission to post: the only one, or the one named.

    Raises:
        WrongUse: there are several and none is named, or none has this name; the message lists some.
    """
    ids = [submission.id for submission in report.submissions]
    if student is None and len(ids) == 1:
        return report.submissions[0]
    named = next((one for one in report.submissions if one.id == student), None)
    if named is not None:
        return named
    near = difflib.get_close_matches(student or "", ids, n=3)
    names = near or ids
    listed = ", ".join(map(repr, names[:_MOST_NAMES])) + (" ..." if len(names) > _MOST_NAMES else "") or "none"
    if student is None:
        raise WrongUse(f"the report has {len(ids)} submissions; choose one with --student (there are {listed})")
    raise WrongUse(f"--student: no submission {student!r} in the report; there are {listed}")


def folder_in_repository(text: str) -> str:
    """A folder of a repository as annotations name it: relative, with `/`; empty for the top.

    Raises:
        WrongUse: it leads out of the repository.
    """
    steps = [step for step in text.replace("\\", "/").split("/") if step not in ("", ".")]
    if text.startswith("/") or ".." in steps:
        raise WrongUse(f"--path: got {text!r}, wanted a folder inside the repository, such as hw4")
    return "/".join(steps)
