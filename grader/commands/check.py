"""`grade check FOLDER`."""

import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.commands.ending import ending
from grader.commands.options import course as course_option

if TYPE_CHECKING:
    from grader.selfcheck.desk import Desk
    from grader.selfcheck.session import Subject

#: Exit codes of `grade check`.
_ALL_PASS, _NOT_ALL = 0, 1


@click.command("check")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("-w", "--watch", is_flag=True, help="Check again whenever a file is saved, until Ctrl-C.")
@click.option("--all", "everything", is_flag=True, help="Tell every failed check at length.")
@click.option("-a", "--assignment", metavar="NAME", help="The assignment, where the handout or course has several.")
@course_option
def command(folder: Path, watch: bool, everything: bool, assignment: str | None, course: Path | None) -> None:
    """Check your own work before you hand it in: the visible checks, on this machine.

    FOLDER holds your files. The checks are those of the course around it, else of the handout in it or around it.

    Exit codes: 0 all visible checks pass; 1 not all do; 2 wrong usage, or no usable handout; 130 interrupted.
    """
    with ending(interrupted=""):
        from grader.selfcheck.session import find_subject

        subject = find_subject(folder, assignment, course)
        sys.exit(_check(subject, is_watching=watch, is_everything=everything))


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
