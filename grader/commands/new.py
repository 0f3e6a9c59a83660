"""`grade new NAME`."""

from pathlib import Path

import click

from grader.commands.ending import ending


@click.command("new")
@click.argument("name")
@click.option(
    "--course",
    type=click.Path(path_type=Path),
    help="The course's folder, which is made when it is none; found from the current one when left out.",
)
def command(name: str, course: Path | None) -> None:
    """Make a new assignment: a small one that works, to be changed into yours.

    It asks for one function, NAME, with a handout, checks, a reference, known mistakes and example submissions. Its
    comments say what is what, and `grade verify NAME` accepts it as it is. Nothing that is there is overwritten.

    Exit codes: 0 it is there; 2 it could not be made; 130 interrupted. There is always all of it, or nothing.
    """
    with ending("nothing was made", place=course):
        from grader.new.command import make

        make(name, course)
