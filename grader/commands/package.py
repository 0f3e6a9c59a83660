"""`grade package PLATFORM ASSIGNMENT`."""

import sys
from pathlib import Path

import click

from grader.commands.options import course
from grader.show import for_terminal


@click.group("package")
def command() -> None:
    """Pack an assignment for a platform that grades by itself."""


@command.command("gradescope")
@click.argument("assignment")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("gradescope.zip"),
    show_default=True,
    help="The zip to write; one that is there is replaced.",
)
@course
def gradescope(assignment: str, out: Path, course: Path | None) -> None:
    """Make the zip that Gradescope takes as an autograder for ASSIGNMENT.

    It holds the reference: upload it, and give it to no student.

    Exit codes: 0 it was written; 2 wrong usage, or an assignment or an installation that cannot be packed.
    """
    from grader.assignment import AssignmentError
    from grader.course import CourseError, find_course
    from grader.package.gradescope import write_package
    from grader.package.pins import PinsError
    from grader.wheel import WheelError

    try:
        found = find_course(course or Path.cwd())
        chosen = found.assignment(assignment)
        names = write_package(found, chosen, out)
    except (AssignmentError, CourseError, PinsError, WheelError) as error:
        click.echo(for_terminal(f"grade: {error}"), err=True)
        sys.exit(2)
    except OSError as error:
        click.echo(for_terminal(f"grade: {error.filename or out}: {error.strerror}; {out} was not written"), err=True)
        sys.exit(2)
    click.echo(
        f"{out}: {chosen.title}, {len(names)} files, {out.stat().st_size / 1e6:.1f} MB. It holds the answers: upload "
        "it to Gradescope (Configure Autograder), and give it to nobody else."
    )
