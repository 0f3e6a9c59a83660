"""`grade lab ASSIGNMENT FOLDER`."""

import sys
from pathlib import Path

import click

from grader.commands.ending import ending
from grader.commands.options import MOST_SEED, finite
from grader.commands.options import course as course_option
from grader.commands.options import isolation as isolation_option

#: Exit codes of `grade lab`.
_ALL_MADE, _NOT_ALL = 0, 1


@click.command("lab")
@click.argument("assignment")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    default=Path("lab"),
    show_default=True,
    help="Folder for the page and the figures.",
)
@click.option("--seed", type=click.IntRange(min=0, max=MOST_SEED), help="Of all inputs; drawn afresh when left out.")
@click.option("--quick", is_flag=True, help="Small sizes and few repetitions, for a first look.")
@click.option("--force", is_flag=True, help="Replace what an earlier run left in the output folder.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    callback=finite,
    help="Limit of one call of the module; the assignment says when left out.",
)
@isolation_option
@course_option
def command(
    assignment: str,
    folder: Path,
    out: Path,
    seed: int | None,
    quick: bool,
    force: bool,
    timeout: float | None,
    isolation: str,
    course: Path | None,
) -> None:
    """Make the lesson's experiments with a module of one's own: a page of plots, and the figures as JSON.

    FOLDER holds the files of one student. What the module does with its scaling and without, whether the future leaks,
    what more heads cost, and how it compares with PyTorch's. Nothing is graded.

    Exit codes: 0 every experiment was made, whatever it shows; 1 at least one could not be, as the page says; 2 wrong
    usage; 3 less isolation than asked for; 130 interrupted.
    """
    with ending("nothing was written", place=out):
        from grader.lab.lab_file import must_be_usable, write
        from grader.lab.session import measure
        from grader.lab.settled import Options, must_have_plots, settle
        from grader.terminal import Screen

        must_have_plots()
        must_be_usable(out, is_forced=force)
        settled = settle(
            Options(assignment=assignment, folder=folder, course=course, seed=seed, is_quick=quick, call_s=timeout)
        )
        lab = measure(settled, is_any_isolation_enough=isolation == "best", screen=Screen())
        from grader.lab.page import page  # imports what draws the plots, which takes a moment
        from grader.lab.said import lines

        files = write(out, lab, page(lab))
        for line in lines(lab):
            click.echo(line)
        for file in files:
            click.echo(f"  {file}")
        sys.exit(_NOT_ALL if any(one.problems for one in lab.experiments) else _ALL_MADE)
