"""The zip that Gradescope takes as an autograder.

    setup.sh          run once, when the autograder is built: Python, the pinned packages, the wheel
    run_autograder    run for each submission; starts `grader.package.autograder`
    constraints.txt, requirements.txt, *.whl
    course/           the assignment and the reference, nothing of other assignments

The zip holds the answers. It is for staff and for Gradescope, where only root can read it.

Format: gradescope.com's autograder documentation, "Autograder Specifications".
"""

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from grader.assignment import VARIANTS, Assignment
from grader.course import Course
from grader.package.autograder import COURSE
from grader.package.pins import distributions_of, pins
from grader.wheel import DISTRIBUTION, write_wheel
from grader.zipped import Member, write_zip

_SCRIPTS = Path(__file__).parent
#: Folders that tools leave behind.
_LEFT = {"__pycache__", ".git", ".ipynb_checkpoints", ".pytest_cache"}


def write_package(course: Course, assignment: Assignment, path: Path) -> list[str]:
    """Write the zip, and return the names of the files in it. One that is there is replaced.

    Raises:
        PinsError, WheelError: something is not installed as it must be.
        OSError: a file cannot be read or written.
    """
    members = [*_scripts(), *_packages(assignment), *_course(course, assignment)]
    write_zip(path, members)
    return [member.name for member in members]


def _scripts() -> Iterator[Member]:
    """The two files that Gradescope looks for at the top."""
    for name in ("setup.sh", "run_autograder.sh"):
        data = (_SCRIPTS / name).read_bytes()
        yield Member(name="run_autograder" if name.startswith("run") else name, data=data, is_executable=True)


def _packages(assignment: Assignment) -> Iterator[Member]:
    """This package as it is here, and what it and the students' code import, in the versions that are here."""
    extra = distributions_of(assignment.rules.imports)
    needed = [line for line in pins([DISTRIBUTION, *extra]) if not line.startswith(f"{DISTRIBUTION}==")]
    yield Member(name="constraints.txt", data=_lines(needed))
    yield Member(name="requirements.txt", data=_lines(extra))
    with tempfile.TemporaryDirectory() as folder:
        wheel = write_wheel(Path(folder))
        yield Member(name=wheel.name, data=wheel.read_bytes())


def _course(course: Course, assignment: Assignment) -> Iterator[Member]:
    """What decides a grade: the same digest there as here."""
    for folder, place in ((assignment.folder, f"assignments/{assignment.name}"), (course.reference, "reference")):
        for name in _files(folder):
            yield Member(name=f"{COURSE}/{place}/{name}", data=(folder / name).read_bytes())


def _files(folder: Path) -> Iterator[str]:
    """Names of the files below a folder, but for solutions of other styles and what tools leave behind."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and path.suffix != ".pyc" and not {VARIANTS, *_LEFT} & set(name.parts):
            yield name.as_posix()


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
