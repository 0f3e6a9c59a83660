"""`grade verify [ASSIGNMENT]`."""

import sys
from pathlib import Path

import click

from grader.commands.ending import ending
from grader.commands.options import MOST_SEED, course


@click.command("verify")
@click.argument("assignment", required=False)
@click.option("--seed", type=click.IntRange(min=0, max=MOST_SEED), default=1, show_default=True, help="Of all inputs.")
@click.option("--only", metavar="GLOB", help="Try only the mistakes whose ids match, one at a time.")
@course
def command(assignment: str | None, seed: int, only: str | None, course: Path | None) -> None:
    """Prove an assignment: its checks, its reference and its mistakes. All of them, when none is named.

    Exit codes: 0 everything holds; 1 something does not; 2 wrong usage or an invalid assignment; 130 interrupted.
    """
    with ending():
        from grader.verification.command import verify_all

        sys.exit(verify_all(course or Path.cwd(), assignment, seed, only))
