"""A student's result as plain text for a comment on a learning platform."""

from grader.post.fit import fit
from grader.show import for_lms_comment
from grader.student_records import StudentView
from grader.told.paragraphs import feedback, sections

#: Canvas's `maximum_text_length`, less one.
_MOST_BYTES = 64 * 1024 - 2
_LEFT_OUT = "The rest is left out here, because a comment cannot be longer."


def comment_text(view: StudentView, marker: str) -> str:
    """Write the comment: the marker alone in its first line, then the result."""
    return fit([marker, *map(for_lms_comment, sections(feedback(view)))], _MOST_BYTES, _LEFT_OUT).rstrip()
