"""Markdown: the class for staff, or what one student may see, as `grade post github` posts it."""

from collections.abc import Iterable

from grader.render.markdown import summary_markdown
from grader.render.overview import summarise
from grader.report import RunHeader, Submission
from grader.student_records import StudentView
from grader.told.markdown import pieces


def class_markdown(header: RunHeader, submissions: Iterable[Submission]) -> str:
    """The summary of a class, which `grade` writes as summary.md too."""
    return summary_markdown(summarise(header, submissions))


def student_markdown(view: StudentView) -> str:
    """What a student may see: points, mistakes, what to fix. As GitHub's Markdown."""
    return "\n\n".join(pieces(view)) + "\n"
