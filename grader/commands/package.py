"""`grade package PLATFORM ASSIGNMENT`."""

from pathlib import Path

import click

from grader.commands.ending import ending
from grader.commands.options import course


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
    with ending(f"{out} was not written", place=out):
        from grader.course import find_course
        from grader.package.gradescope import write_package

        found = find_course(course or Path.cwd())
        chosen = found.assignment(assignment)
        names = write_package(found, chosen, out)
    click.echo(
        f"{out}: {chosen.title}, {len(names)} files, {out.stat().st_size / 1e6:.1f} MB. It holds the answers: upload "
        "it to Gradescope (Configure Autograder), and give it to nobody else."
    )
