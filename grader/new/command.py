"""The command `grade new`: which course, what is written, and what to do next."""

import shlex
from pathlib import Path, PurePosixPath

import click

from grader.course import Course, CourseError, find_course
from grader.new.name import NameRefused, must_be_free
from grader.new.place import PlaceTaken, place
from grader.new.template import files_of, files_of_course, ids_of
from grader.show import for_terminal

#: Exit codes.
MADE, USAGE = 0, 2


def make(name: str, course: Path | None) -> int:
    """Make the assignment and say what was made; returns the exit code.

    `course`: a course's folder, or where one is to be; None: the one that the current folder lies in.
    """
    try:
        folder = _course(course)
        _make(name, folder)
    except (CourseError, NameRefused, PlaceTaken) as error:
        click.echo(for_terminal(f"grade: {error}"), err=True)
        return USAGE
    except OSError as error:
        click.echo(for_terminal(f"grade: {error.filename or course}: {error.strerror}; nothing was made"), err=True)
        return USAGE
    return MADE


def _course(named: Path | None) -> Path:
    """The folder of the course, which need not be there when it was named.

    Raises:
        CourseError: none was named or found; or the one named is a file, or would lie within another course.
    """
    if named is None:
        try:
            return find_course(Path.cwd()).folder
        except CourseError as error:
            raise CourseError(f"{error}; where there is no course yet, --course FOLDER makes one") from None
    folder = named.resolve()
    if folder.exists() and not folder.is_dir():
        raise CourseError(f"--course {named}: a file; wanted the folder of a course, or one that is still to be made")
    try:
        around = find_course(folder).folder
    except CourseError:
        return folder
    if around != folder:
        raise CourseError(
            f"--course {named}: it lies in the course {around}, and courses do not lie in each other; name that one, "
            "or a folder elsewhere"
        )
    return folder


def _make(name: str, folder: Path) -> None:
    files = files_of(name)
    must_be_free(name, Course(folder), ids_of(files))
    for_course = {at: text for at, text in files_of_course().items() if not (folder / at).exists()}
    assignment = PurePosixPath("assignments", name)
    place(folder, {**for_course, **files}, last=assignment)
    click.echo(f"{name}: a working assignment of one function, in {'a new' if for_course else 'the'} course {folder}")
    for at in (*for_course, *files):
        click.echo(f"  {at}")
    click.echo(_next_steps(name, folder))


def _next_steps(name: str, folder: Path) -> str:
    example = f"submissions_example/{name}"
    steps = [
        f"grade verify {name}",
        f"grade {example} -o report/",
        f"pytest assignments/{name}/checks --submission {example}/one_mistake",
    ]
    if not Path.cwd().resolve().is_relative_to(folder):
        steps.insert(0, f"cd {shlex.quote(str(folder))}")
    return "\n".join(["next", *(f"  {step}" for step in steps)])
