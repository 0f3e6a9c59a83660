"""Which assignment of a course submissions answer, where nobody said it."""

from collections.abc import Collection, Mapping, Sequence

from grader.assignment import Assignment
from grader.course import Course
from grader.find import Found
from grader.intake import file_names, texts


def assignment_of(course: Course, found: Sequence[Found], asked: Mapping[str, Collection[str]]) -> Assignment:
    """The assignment by the names of the files, or by what they define where several have a stub of one name.

    `asked`: what `course.asked` says of all assignments.

    Raises:
        AssignmentError, CourseError: it cannot be told, or cannot be read.
        IntakeError: this machine has no descriptor or process left for looking.
    """
    return course.assignment_for(file_names(found, asked), lambda: texts(found, asked))
