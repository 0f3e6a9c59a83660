"""The command `grade`. `grade FOLDER` is short for `grade run FOLDER`; other words are commands.

A folder named like a command is graded by `grade run NAME` or `grade ./NAME`.
"""

import math
import os
import sys
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader import __version__, interrupt

if TYPE_CHECKING:
    from grader.run import Options
    from grader.terminal import Screen

_OWN_OPTIONS = {"--help", "-h", "--version"}


class _FolderOrCommand(click.Group):
    """A group whose first word may be left out: what is no command is a folder to grade."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in _OWN_OPTIONS:
            args = ["run", *args]
        elif args and Path(args[0]).is_dir():
            click.echo(
                f"{args[0]} is taken as a command; to grade the folder of that name: grade ./{args[0]}",
                err=True,
            )
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "SUBMISSIONS [OPTIONS] | COMMAND [ARGS]...")


def _finite(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is no number of seconds", ctx, param)
    return value


def _percent(ctx: click.Context, param: click.Parameter, value: str | None) -> Decimal | None:
    if value is None:
        return None
    try:
        percent = Decimal(value.removesuffix("%"))
    except ArithmeticError:
        percent = Decimal(-1)
    if not 0 <= percent <= 100:
        raise click.BadParameter(f"{value!r} is no percentage; wanted a number from 0 to 100", ctx, param)
    return percent


@click.group(cls=_FolderOrCommand, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
@click.version_option(__version__, prog_name="grade")
def main() -> None:
    """Grade attention homework.

    SUBMISSIONS is a folder with one folder or archive (zip, tar, tar.gz) per student, or one student's folder or
    archive. A folder that is named like a command is graded by `grade ./NAME`.
    """


@main.command()
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
@click.option("--seed", type=click.IntRange(min=0, max=2**63 - 1), help="Replay a run; drawn afresh when left out.")
@click.option(
    "--only", metavar="GLOB", help="Grade only submissions whose name matches; the others of the report stay."
)
@click.option(
    "--resume",
    is_flag=True,
    help="Go on from the report in the output folder: grade what is missing or has changed.",
)
@click.option("--force", is_flag=True, help="Replace the report in the output folder.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    callback=_finite,
    help="Limit of one call of a student's code; the assignment says when left out.",
)
@click.option(
    "--fail-under", callback=_percent, metavar="PERCENT", help="Exit with code 4 when a score is below this percentage."
)
@click.option(
    "--isolation",
    type=click.Choice(["strong", "best"]),
    default="strong",
    show_default=True,
    help="strong: refuse to run where students' code cannot be kept away; best: as well as this machine can.",
)
@click.option(
    "--course",
    type=click.Path(path_type=Path),
    help="The course's folder; found from the current one when left out.",
)
def run(
    submissions: Path,
    assignment: str | None,
    out: Path,
    jobs: int | None,
    seed: int | None,
    only: str | None,
    resume: bool,
    force: bool,
    timeout: float | None,
    fail_under: Decimal | None,
    isolation: str,
    course: Path | None,
) -> None:
    """Grade the submissions in a folder, or a single one.

    Exit codes: 0 every submission was graded; 1 at least one could not be; 2 wrong usage or an invalid assignment;
    3 less isolation than asked for; 4 below --fail-under; 130 interrupted, 143 told to end (--resume goes on).
    """
    try:
        from grader.run import Options
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
            fail_under=fail_under,
            is_any_isolation_enough=isolation == "best",
        )
        sys.exit(_run(options, Screen()))
    except KeyboardInterrupt:
        click.echo(f"\ngrade: interrupted; what was finished is in {out}: go on with --resume", err=True)
        sys.exit(interrupt.exit_code())


def _run(options: "Options", screen: "Screen") -> int:
    from grader.run import RunError, run

    try:
        return run(options, screen)
    except RunError as error:
        click.echo(f"grade: {error}", err=True)
        return error.exit_code
    except Exception:
        if interrupt.has_come():  # a library caught the interruption, and stumbled over what it had left half done
            raise KeyboardInterrupt from None
        raise


@main.command()
def doctor() -> None:
    """Show how well this machine keeps students' code in, each layer tried alone.

    Exit codes: 0 isolation is strong; 3 it is less.
    """
    from grader.doctor import examine
    from grader.launch import LaunchError
    from grader.run import NOT_ISOLATED

    level = ""
    try:
        for label, text in examine():
            click.echo(f"{label:<11} {text}")
            level = text
    except LaunchError as error:
        click.echo(f"grade: {error}", err=True)
        sys.exit(NOT_ISOLATED)
    sys.exit(0 if level == "strong" else NOT_ISOLATED)


@main.command()
@click.argument("assignment", required=False)
@click.option("--seed", type=click.IntRange(min=0, max=2**63 - 1), default=1, show_default=True, help="Of all inputs.")
@click.option("--only", metavar="GLOB", help="Try only the mistakes whose ids match, one at a time.")
@click.option(
    "--course",
    type=click.Path(path_type=Path),
    help="The course's folder; found from the current one when left out.",
)
def verify(assignment: str | None, seed: int, only: str | None, course: Path | None) -> None:
    """Prove an assignment: its checks, its reference and its mistakes. All of them, when none is named.

    Exit codes: 0 everything holds; 1 something does not; 2 wrong usage or an invalid assignment; 130 interrupted.
    """
    from grader.verification.command import verify_all

    try:
        sys.exit(verify_all(course or Path.cwd(), assignment, seed, only))
    except KeyboardInterrupt:
        click.echo("\ngrade: interrupted", err=True)
        sys.exit(interrupt.exit_code())
