"""The archive that students get: stubs, the handout's text, visible checks, the record, and this program as a wheel."""

import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from grader.assignment import Assignment, AssignmentError
from grader.course import Course
from grader.grade import Grading, with_grading
from grader.handout.record import write_record
from grader.handout.tries import Progress
from grader.names import RECORDS
from grader.report import Feedback, FeedbackLevel
from grader.spec import visible_checks
from grader.student_view import level_in_force
from grader.wheel import write_wheel
from grader.zipped import Member, write_zip

README, HOW = "README.md", "CHECK.md"
STUB = "stub"


def write_handout(course: Course, assignment: Assignment, out: Path, today: date, progress: Progress) -> FeedbackLevel:
    """Write the archive, whole or not at all, and return how much it tells a student.

    Args:
        today: decides how much that is, where the assignment names a day.

    Raises:
        AssignmentError: the assignment does not hold together, or lacks a stub.
        WheelError: no wheel can be made of this installation.
        OSError: the archive cannot be written.
    """
    _must_have_stubs(assignment)
    told = Feedback(level=FeedbackLevel(assignment.feedback.level), full_from=assignment.feedback.full_from)
    level = level_in_force(told, today)
    with tempfile.TemporaryDirectory(prefix="grade-handout-") as scratch:
        record, wheels = Path(scratch, "record"), Path(scratch, "wheels")
        record.mkdir()
        wheels.mkdir()

        def write(grading: Grading) -> None:
            write_record(record, grading, level, progress)

        with_grading(course, assignment, assignment.published_seed, write, are_all=False)
        wheel = write_wheel(wheels)
        write_zip(out, list(_members(assignment, record, wheel)))
    return level


def _members(assignment: Assignment, record: Path, wheel: Path) -> Iterator[Member]:
    top, kept = assignment.name, f"{assignment.name}/{RECORDS}"
    if (assignment.folder / README).is_file():
        yield Member(name=f"{top}/{README}", data=(assignment.folder / README).read_bytes())
    yield Member(name=f"{top}/{HOW}", data=_how_to(assignment, wheel.name).encode())
    for name in assignment.files:
        yield Member(name=f"{top}/{name}", data=(assignment.folder / STUB / name).read_bytes())
    for file in visible_checks(assignment):
        yield Member(name=f"{kept}/{assignment.name}/checks/{file.name}", data=file.read_bytes())
    for file in sorted(record.iterdir()):
        yield Member(name=f"{kept}/{assignment.name}/{file.name}", data=file.read_bytes())
    yield Member(name=f"{kept}/{wheel.name}", data=wheel.read_bytes())


def _must_have_stubs(assignment: Assignment) -> None:
    missing = [name for name in assignment.files if not (assignment.folder / STUB / name).is_file()]
    if missing:
        raise AssignmentError(f"{assignment.folder / STUB}: no {missing[0]}; wanted a stub of every part")


def _how_to(assignment: Assignment, wheel: str) -> str:
    files = ", ".join(f"`{name}`" for name in assignment.files)
    return f"""# Check your work

Once, in this folder (Python 3.11 or newer; torch is installed with it, if it is not there):

    python -m pip install {RECORDS}/{wheel}

Then, as often as you like:

    grade check .            # the visible checks, once
    grade check . --watch    # again whenever you save a file; Ctrl-C ends it

No network is needed, and nothing is sent anywhere. Work on {files} right here. The inputs are always the same; your
work is graded with others, and with hidden checks besides, that ask for nothing that {README} does not say.

Hand in {files}. You may hand in this whole folder: `{RECORDS}/` is left out.
"""
