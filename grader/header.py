"""What a run says of itself: when it began, its seed, what it grades, and with what."""

import platform
from datetime import UTC, datetime
from importlib.metadata import version

from grader import __version__, report
from grader.assignment import Assignment
from grader.report import Isolation, RunHeader


def make_header(assignment: Assignment, seed: int, timeout_s: float, digest: str | None = None) -> RunHeader:
    """The header of a run that begins now.

    Args:
        timeout_s: limit of one call.
        digest: the assignment's, where its files are not all there.
    """
    feedback = report.Feedback(
        level=report.FeedbackLevel(assignment.feedback.level), full_from=assignment.feedback.full_from
    )
    return RunHeader(
        created=datetime.now(UTC),
        seed=seed,
        timeout_s=timeout_s,
        assignment=report.Assignment(
            name=assignment.name,
            title=assignment.title,
            max_score=assignment.max_score,
            digest=digest or assignment.digest,
            feedback=feedback,
            late=assignment.late,
        ),
        grader=report.Grader(
            version=__version__,
            python=platform.python_version(),
            torch=version("torch"),
            isolation=Isolation.NONE,  # until it has been tried
        ),
    )


def continued(earlier: RunHeader, now: RunHeader) -> RunHeader:
    """The header of a run that goes on from an earlier one: its own, with what late days cost today."""
    assignment = earlier.assignment.model_copy(update={"late": now.assignment.late})
    return earlier.model_copy(update={"assignment": assignment})
