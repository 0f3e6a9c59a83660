"""Which assignment of a course submissions answer, where nobody said it."""

from collections.abc import Iterable

from grader.assignment import Assignment
from grader.course import Course
from grader.find import Found
from grader.intake import file_names, texts


def assignment_of(course: Course, found: Iterable[Found]) -> Assignment:
    """The assignment by the names of the files, or by what they define where several have a stub of one name.

    Raises:
        AssignmentError, CourseError: it cannot be told, or cannot be read.
        IntakeError: this machine has no descriptor or process left for looking.
    """
    everything, asked = list(found), course.asked()
    return course.assignment_for(file_names(everything, asked), lambda: texts(everything, asked))
