"""`grade handout ASSIGNMENT -o handout.zip`."""

import sys
from datetime import date
from pathlib import Path

import click

from grader import interrupt
from grader.commands.options import course as course_option
from grader.show import for_terminal


@click.command("handout")
@click.argument("assignment")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path, dir_okay=False), help="The archive.  [default: ASSIGNMENT.zip]"
)
@course_option
def command(assignment: str, out: Path | None, course: Path | None) -> None:
    """Pack what students get: stubs, visible checks, and all that `grade check` needs; no line of the reference.

    Exit codes: 0 it is written; 2 wrong usage or an invalid assignment; 130 interrupted.
    """
    from grader.assignment import AssignmentError
    from grader.course import CourseError, find_course
    from grader.terminal import Screen
    from grader.wheel import WheelError
    from grader.worker.sandbox.privileges import hide_memory

    try:
        hide_memory()
        place = find_course(course or Path.cwd())
        about = place.assignment(assignment)
        target = out or Path(f"{about.name}.zip")
        if not target.parent.is_dir():
            raise click.UsageError(f"{target.parent}: no such folder; make it, or name another with -o")
        from grader.handout.pack import write_handout  # imports torch

        with Screen().steps("Making each known mistake") as tell:
            level = write_handout(place, about, target, date.today(), tell)
    except (AssignmentError, CourseError, WheelError) as error:
        click.echo(for_terminal(f"grade: {error}"), err=True)
        sys.exit(2)
    except OSError as error:
        click.echo(
            for_terminal(f"grade: {error.filename or target}: {error.strerror}; no handout was written"), err=True
        )
        sys.exit(2)
    except KeyboardInterrupt:
        click.echo("\ngrade: interrupted; no handout was written", err=True)
        sys.exit(interrupt.exit_code())
    told = "titles and hints" if level == "hint" else "titles, hints and explanations"
    about_mistakes = "nothing of known mistakes" if level == "verdict" else f"{told} of known mistakes"
    click.echo(f"{target}: stubs, visible checks with seed {about.published_seed}, {about_mistakes} (level {level})")
