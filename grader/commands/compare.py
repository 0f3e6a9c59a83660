"""`grade compare OLD NEW`."""

import sys
from pathlib import Path

import click

from grader.commands.ending import ending

_EQUAL, _CHANGED = 0, 1


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
    with ending("name another file"):
        from grader.regrade import compare_reports
        from grader.render.changes import MOST_STUDENTS, changes_csv, comparison_lines, report_line
        from grader.report_file import read_report, report_path
        from grader.report_json import to_json
        from grader.whole_file import write_output

        reports = [read_report(old), read_report(new)]
        comparison = compare_reports(*reports)
        for label, place, report in zip(("OLD", "NEW"), (old, new), reports, strict=True):
            click.echo(report_line(label, str(report_path(place)), report, len(report.submissions)))
        for line in comparison_lines(comparison, None if is_all else MOST_STUDENTS):
            click.echo(line)
        for path, text in ((json_file, to_json), (out, changes_csv)):
            if path:
                write_output(path, text(comparison).encode())
    sys.exit(_EQUAL if comparison.is_equal else _CHANGED)
