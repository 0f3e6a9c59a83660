"""`grade compare OLD NEW`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.show import for_terminal

if TYPE_CHECKING:
    from grader.report import Report

_EQUAL, _CHANGED, _USAGE = 0, 1, 2


@click.command("compare")
@click.argument("old", type=click.Path(exists=True, path_type=Path))
@click.argument("new", type=click.Path(exists=True, path_type=Path))
@click.option("--all", "is_all", is_flag=True, help="List every student with a change, however many there are.")
@click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Write all of it as JSON.")
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the students and checks that changed as CSV.",
)
def command(old: Path, new: Path, is_all: bool, json_file: Path | None, out: Path | None) -> None:
    """Show what a regrade changed, before anything is published.

    OLD and NEW are folders of reports, or report.json files. Students are matched by id. Compared are statuses, points,
    verdicts, mistakes and adjustments.

    Exit codes: 0 nothing changed for anybody; 1 something did; 2 wrong usage, or no report.
    """
    from grader.regrade import compare_reports
    from grader.render.changes import MOST_STUDENTS, changes_csv, comparison_lines, report_line
    from grader.report_json import ReportError, to_json
    from grader.store import Store

    try:
        reports = [(label, *_read(path)) for label, path in (("OLD", old), ("NEW", new))]
    except (ReportError, OSError) as error:
        click.echo(for_terminal(f"grade: {error}"), err=True)
        sys.exit(_USAGE)
    comparison = compare_reports(reports[0][2], reports[1][2])
    for label, file, report in reports:
        click.echo(report_line(label, str(file), report, len(report.submissions)))
    for line in comparison_lines(comparison, None if is_all else MOST_STUDENTS):
        click.echo(line)
    for path, text in ((json_file, to_json), (out, changes_csv)):
        if path:
            try:
                Store(path.parent).write(path.name, text(comparison))
            except OSError as error:
                click.echo(
                    for_terminal(f"grade: {error.filename or path}: {error.strerror}; name another file"), err=True
                )
                sys.exit(_USAGE)
    sys.exit(_EQUAL if comparison.is_equal else _CHANGED)


def _read(path: Path) -> "tuple[Path, Report]":
    """The report in a folder, or in a file, and where it is.

    Raises:
        ReportError: it is none, or a run into the folder has not ended.
        OSError: it cannot be read.
    """
    from grader.report_json import ReportError, from_json
    from grader.store import Store

    if not path.is_dir():
        return path, from_json(path.read_bytes(), str(path))
    store = Store(path)
    if store.journal.exists():
        raise ReportError(str(path), "a run that has not ended", "a finished one: go on with it by grade run --resume")
    if not store.report.exists():
        raise ReportError(str(path), "no report.json in it", "the folder of a report, or the file itself")
    return store.report, from_json(store.report.read_bytes(), str(store.report))
