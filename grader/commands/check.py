"""`grade check FOLDER`."""

import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader import interrupt
from grader.commands.options import course as course_option
from grader.show import for_terminal

if TYPE_CHECKING:
    from grader.selfcheck.desk import Desk
    from grader.selfcheck.session import Subject

#: Exit codes of `grade check`.
_ALL_PASS, _NOT_ALL, _USAGE = 0, 1, 2


@click.command("check")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("-w", "--watch", is_flag=True, help="Check again whenever a file is saved, until Ctrl-C.")
@click.option("--all", "everything", is_flag=True, help="Tell every failed check at length.")
@click.option("-a", "--assignment", metavar="NAME", help="The assignment, where the handout or course has several.")
@course_option
def command(folder: Path, watch: bool, everything: bool, assignment: str | None, course: Path | None) -> None:
    """Check your own work before you hand it in: the visible checks, on this machine.

    FOLDER holds your files; the course's handout is found in it, or around it.

    Exit codes: 0 all visible checks pass; 1 not all do; 2 wrong usage, or no usable handout; 130 interrupted.
    """
    from grader.assignment import AssignmentError
    from grader.course import CourseError
    from grader.find import FindError
    from grader.handout.header import HandoutError
    from grader.intake import IntakeError
    from grader.launch import LaunchError
    from grader.selfcheck.session import find_subject

    try:
        subject = find_subject(folder, assignment, course)
        sys.exit(_check(subject, is_watching=watch, is_everything=everything))
    except (AssignmentError, CourseError, FindError, HandoutError, IntakeError, LaunchError) as error:
        click.echo(for_terminal(f"grade: {error}"), err=True)
        sys.exit(_USAGE)
    except KeyboardInterrupt:
        click.echo(err=True)
        sys.exit(interrupt.exit_code())


def _check(subject: "Subject", *, is_watching: bool, is_everything: bool) -> int:
    from grader.selfcheck.screen import CheckScreen
    from grader.selfcheck.session import with_desk

    screen = CheckScreen(subject, is_watching=is_watching, is_everything=is_everything)
    screen.begin()

    def once_or_watching(desk: "Desk") -> int:
        from grader.selfcheck.watch import checks_of

        for checked in checks_of(desk, date.today):
            screen.show(checked)
            if not is_watching:
                return _ALL_PASS if checked.is_all_right else _NOT_ALL
        raise AssertionError("watching does not end by itself")

    return with_desk(subject, once_or_watching)
