"""`grade run SUBMISSIONS`, or `grade SUBMISSIONS` for short."""

import os
import sys
from decimal import Decimal
from pathlib import Path

import click

from grader.commands.ending import ending
from grader.commands.options import MOST_SEED, course, finite, percent
from grader.commands.options import isolation as isolation_option


@click.command("run")
@click.argument("submissions", type=click.Path(path_type=Path))
@click.option(
    "-a",
    "--assignment",
    metavar="NAME",
    help="The assignment; found by the names of the files when left out.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    default=Path("report"),
    show_default=True,
    help="Folder for the reports.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    default=None,
    help="Submissions graded at a time.  [default: cores]",
)
@click.option("--seed", type=click.IntRange(min=0, max=MOST_SEED), help="Replay a run; drawn afresh when left out.")
@click.option(
    "--only", metavar="GLOB", help="Grade only submissions whose name matches; the others of the report stay."
)
@click.option(
    "--resume",
    is_flag=True,
    help="Go on from the report in the output folder: grade what is missing or has changed.",
)
@click.option(
    "--roster",
    type=click.Path(path_type=Path),
    metavar="CSV",
    help="Who is in the class: names for the report, who is missing, extensions. Platforms' own exports are read.",
)
@click.option(
    "--single",
    is_flag=True,
    help="SUBMISSIONS is one student's work, whatever lies in it: nothing there names people, times or a class.",
)
@click.option("--force", is_flag=True, help="Replace the report in the output folder.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    callback=finite,
    help="Limit of one call of a student's code; the assignment says when left out.",
)
@click.option(
    "--overrides",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Points that staff decided, as CSV: student, check (or total), points, reason.  "
    "[default: overrides.csv in the folder for the reports, where it is there]",
)
@click.option(
    "--fail-under",
    callback=percent,
    metavar="PERCENT",
    help="Exit with code 4 when a final score is below this percentage.",
)
@isolation_option
@course
def command(
    submissions: Path,
    assignment: str | None,
    out: Path,
    jobs: int | None,
    seed: int | None,
    only: str | None,
    resume: bool,
    roster: Path | None,
    single: bool,
    force: bool,
    timeout: float | None,
    overrides: Path | None,
    fail_under: Decimal | None,
    isolation: str,
    course: Path | None,
) -> None:
    """Grade the submissions in a folder, in the zip that a platform gives, or a single one.

    Plain folders and archives, downloads of Canvas and Moodle, exports of Gradescope and git clones are told apart.

    Exit codes: 0 every submission was graded; 1 at least one could not be; 2 wrong usage or an invalid assignment;
    3 less isolation than asked for; 4 below --fail-under; 130 interrupted, 143 told to end (--resume goes on).
    """
    with ending(interrupted=f"interrupted; what was finished is in {out}: go on with --resume"):
        from grader.run import Options, run
        from grader.terminal import Screen

        options = Options(
            folder=submissions,
            assignment=assignment,
            course=course,
            out=out,
            jobs=jobs or os.cpu_count() or 1,
            seed=seed,
            only=only,
            is_resumed=resume,
            is_forced=force,
            call_s=timeout,
            overrides=overrides,
            fail_under=fail_under,
            is_any_isolation_enough=isolation == "best",
            roster=roster,
            is_single=single,
        )
        sys.exit(run(options, Screen()))
