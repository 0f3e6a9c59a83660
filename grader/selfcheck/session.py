"""A desk made ready: an answer key from a handout's record or from the course, one warm worker's parent, a session.

What needs no torch is settled first, so that a wrong word costs no seconds, and the zygote imports its torch while this
process imports its own.
"""

import os
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from grader.assignment import Assignment
from grader.course import Course, CourseError, find_course
from grader.find import FindError, Found, find_file, find_folder
from grader.handout.header import Handout, find_handout
from grader.header import make_header
from grader.launch import ONE_THREAD, ForkLauncher, Launcher, SpawnLauncher, Zygote, can_fork
from grader.report import Feedback, RunHeader
from grader.which import assignment_of
from grader.worker.sandbox.privileges import hide_memory

if TYPE_CHECKING:
    from grader.grade import Grading
    from grader.selfcheck.desk import Desk

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is to be checked, and with what."""

    found: Found
    assignment: Assignment
    header: RunHeader
    source: Handout | Course


def find_subject(folder: Path, name: str | None, course: Path | None) -> Subject:
    """A student's folder or archive, and the course around it; else the handout it lies in.

    Checks are programs, and they run in this process: where there is a course, those that lie in a folder somebody
    handed in are not asked.

    Args:
        name: of the assignment, where it is not plain.
        course: the course's folder, where it is not plain.

    Raises:
        FindError, CourseError, AssignmentError, HandoutError: what is missing, and what to do.
    """
    found = find_folder(folder) if folder.is_dir() else find_file(folder)
    if found is None:
        raise FindError(f"{folder}: no such folder; wanted the folder with your files, such as `grade check .`")
    place = find_course(course) if course else _course_around(folder)
    if place is None:
        handout = _handout(folder, name)
        return Subject(found=found, assignment=handout.assignment, header=_header_of(handout), source=handout)
    assignment = place.assignment(name) if name else assignment_of(place, [found], place.asked())
    header = make_header(assignment, assignment.published_seed, assignment.limits.call_s)
    return Subject(found=found, assignment=assignment, header=header, source=place)


def _course(named: Path | None) -> Course | None:
    """The course that was named, or that a person stands in. Never one that lies in what is to be checked.

    Raises:
        CourseError: the one that was named is none.
    """
    try:
        return find_course(named or Path.cwd())
    except CourseError:
        if named:
            raise
        return None


def _header_of(handout: Handout) -> RunHeader:
    """Of the assignment as staff have it, and with what the handout tells."""
    assignment = handout.assignment
    digest = handout.header.digest
    header = make_header(assignment, assignment.published_seed, assignment.limits.call_s, digest)
    told = header.assignment.model_copy(update={"feedback": Feedback(level=handout.header.level)})
    return header.model_copy(update={"assignment": told})


def with_desk(subject: Subject, body: Callable[["Desk"], Result]) -> Result:
    """Call `body` with a desk for a subject.

    Raises:
        AssignmentError, HandoutError, ExamineError: the checks, or what they compare with, cannot be used.
        LaunchError: no worker can be started.
    """
    hide_memory()  # where it is a course, there are answers in it
    rules = subject.assignment.rules
    with Zygote(1, rules) if can_fork() else nullcontext() as zygote:
        os.environ.update(ONE_THREAD)  # read when numpy and torch are imported
        from grader.selfcheck.desk import Desk  # these import torch: see above

        def at_the_desk(grading: "Grading") -> Result:
            launcher: Launcher = SpawnLauncher(rules)
            if zygote is not None:
                zygote.wait()
                launcher = ForkLauncher(zygote.controls[0])
            return body(Desk(grading, launcher, subject.header, subject.found))

        return _with_grading(subject, at_the_desk)


def _with_grading(subject: Subject, body: Callable[["Grading"], Result]) -> Result:
    from grader.grade import with_grading
    from grader.handout.recorded import with_record

    if isinstance(subject.source, Handout):
        return with_record(subject.source, body)
    seed = subject.assignment.published_seed
    return with_grading(subject.source, subject.assignment, seed, body, are_all=False)


def _course_around(folder: Path) -> Course | None:
    """The course that this process works in, or that a folder lies in; None when there is none.

    One that lies in the folder itself is what a student handed in.
    """
    for start in (Path.cwd(), folder.resolve().parent):
        with suppress(CourseError):
            course = find_course(start)
            if course.names and not course.folder.is_relative_to(folder.resolve()):
                return course
    return None


def _handout(folder: Path, name: str | None) -> Handout:
    """The handout that a folder lies in, or this process works in.

    Raises:
        HandoutError: as `find_handout` does.
        CourseError: there is none, and no course either.
    """
    for start in (folder if folder.is_dir() else folder.parent, Path.cwd()):
        if handout := find_handout(start, name):
            return handout
    raise CourseError(
        f"{folder} is in no handout and in no course: unpack the handout that your course gives out, put your "
        "files into its folder, and run `grade check` there"
    )
