"""`grade export FORMAT REPORT`: each format a command of its own, with the options it takes."""

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from grader.commands.delivery import delivery

if TYPE_CHECKING:
    from grader.report import Report, Submission
    from grader.student_records import StudentView

Command = TypeVar("Command", bound=Callable[..., Any])


@click.group("export")
def command() -> None:
    """Write a report for the tools around a course.

    REPORT is the folder of a run, or its report.json. What counts, with late days and what staff decided, is what
    gradebooks get. The file is replaced whole; without -o it goes to standard output, and what is to be said to
    standard error.

    Exit codes: 0 written; 1 written, but somebody of the report has no row or no score; 2 wrong usage, nothing written.
    """


def _report(command: Command) -> Command:
    return click.argument("report", type=click.Path(path_type=Path))(command)


def _out(command: Command) -> Command:
    return click.option(
        "-o", "--out", type=click.Path(path_type=Path), help="The file to write.  [default: standard output]"
    )(command)


def _student(command: Command) -> Command:
    return click.option(
        "--student",
        "students",
        metavar="WHO",
        multiple=True,
        help="Only this submission: its id, a glob, or a person's name, address, login or number. May be repeated.",
    )(command)


def _template(command: Command) -> Command:
    return click.option(
        "--template",
        type=click.Path(path_type=Path),
        help="What the platform itself exported; it is read, never written.",
    )(command)


def _scale(command: Command) -> Command:
    return click.option(
        "--scale",
        is_flag=True,
        help="Scale the scores where the platform says other points than the report; refused otherwise.",
    )(command)


def _view(command: Command) -> Command:
    return click.option(
        "--view",
        type=click.Choice(["staff", "student"]),
        help="Whose eyes it is for.  [default: student's with --student, else staff's]",
    )(command)


@command.command("canvas")
@_report
@_out
@_template
@click.option("--column", metavar="TEXT", help="The assignment in Canvas: its id, or its title or a part of it.")
@_scale
@_student
def canvas(
    report: Path, out: Path | None, template: Path | None, column: str | None, scale: bool, students: tuple[str, ...]
) -> None:
    """Fill one column of the course's own gradebook export.

    Nothing else in it changes. No blank is ever written over a score, and nobody gets one who has none in the report.
    """
    from grader.export.canvas import HOW_TO_GET_IT, fill

    with delivery(out, report, template) as handed:
        data = handed.template(HOW_TO_GET_IT)
        whole, chosen = _chosen(report, students)
        filled, filling = fill(whole, chosen, data, str(template), column, scale)
        handed.filled(filled, filling)


@command.command("moodle")
@_report
@_out
@_template
@click.option(
    "--feedback-column", metavar="TITLE", help="Write what a student may see here, as in 'Feedback comments'."
)
@click.option(
    "--title",
    "titles",
    metavar="WHAT=TITLE",
    multiple=True,
    help="A title that is not in English, as in grade=Bewertung. May be repeated.",
)
@_scale
@_student
def moodle(
    report: Path,
    out: Path | None,
    template: Path | None,
    feedback_column: str | None,
    titles: tuple[str, ...],
    scale: bool,
    students: tuple[str, ...],
) -> None:
    """Fill the grades of an assignment's own grading worksheet, and comments where asked for.

    A comment that a person wrote or changed is kept.
    """
    from grader.export.moodle import HOW_TO_GET_IT, fill
    from grader.told.paragraphs import as_html, feedback

    with delivery(out, report, template) as handed:
        data = handed.template(HOW_TO_GET_IT)
        whole, chosen = _chosen(report, students)

        def comment(submission: "Submission") -> str:
            return as_html(feedback(_seen(whole, submission)))

        wanted = (feedback_column, comment) if feedback_column else None
        filled, filling = fill(whole, chosen, data, str(template), _titles(titles), scale, wanted)
        handed.filled(filled, filling)


@command.command("gradescope")
@_report
@_out
@_student
def gradescope(report: Path, out: Path | None, students: tuple[str, ...]) -> None:
    """Write results.json of one submission, for its student's eyes.

    Where the grader failed on it nothing is written and the exit code is 2: Gradescope then says that the autograder
    failed, and gives no 0.
    """
    from grader.export.gradescope import results_json
    from grader.people.chosen import choose_one
    from grader.report_file import read_report

    with delivery(out, report) as handed:
        whole = read_report(report)
        handed.text(results_json(_seen(whole, choose_one(whole, students))))


@command.command("junit")
@_report
@_out
@_student
@_view
def junit(report: Path, out: Path | None, students: tuple[str, ...], view: str | None) -> None:
    """Write JUnit XML: a suite for each submission, a case for each check."""
    from grader.export.junit import junit_xml, suite_for_staff, suite_for_student

    with delivery(out, report) as handed:
        whole, chosen = _chosen(report, students)
        if _is_for_students(view, students):
            suites = [suite_for_student(_seen(whole, one)) for one in chosen]
        else:
            suites = [suite_for_staff(one) for one in chosen]
        handed.text(junit_xml(whole, suites))


@command.command("markdown")
@_report
@_out
@_student
@_view
def markdown(report: Path, out: Path | None, students: tuple[str, ...], view: str | None) -> None:
    """Write a summary of the class, or what each student may see."""
    from grader.export.markdown import class_markdown, student_markdown

    with delivery(out, report) as handed:
        whole, chosen = _chosen(report, students)
        if _is_for_students(view, students):
            handed.text("\n".join(student_markdown(_seen(whole, one)) for one in chosen))
        else:
            handed.text(class_markdown(whole, chosen))


@command.command("csv")
@_report
@_out
@_student
def csv(report: Path, out: Path | None, students: tuple[str, ...]) -> None:
    """Write a table: a row for each student, with people, points, parts, and a verdict for each check."""
    from grader.export.table import class_csv

    with delivery(out, report) as handed:
        whole, chosen = _chosen(report, students)
        handed.text(class_csv(whole, chosen))


def _chosen(place: Path, students: Sequence[str]) -> "tuple[Report, tuple[Submission, ...]]":
    from grader.people.chosen import choose
    from grader.report_file import read_report

    report = read_report(place)
    return report, choose(report, students)


def _seen(report: "Report", submission: "Submission") -> "StudentView":
    """What its student may see today."""
    from grader.student_view import student_view

    return student_view(report, submission, report.assignment.feedback, date.today())


def _is_for_students(view: str | None, students: Sequence[str]) -> bool:
    return view == "student" or (view is None and bool(students))


def _titles(pairs: Sequence[str]) -> dict[str, str]:
    from grader.export.moodle import TITLES

    titles = {}
    for pair in pairs:
        what, _, title = pair.partition("=")
        if what not in TITLES or not title:
            raise click.BadParameter(f"{pair!r}; wanted WHAT=TITLE, with WHAT one of {', '.join(TITLES)}")
        titles[what] = title
    return titles
