"""`grade doctor`."""

import sys

import click

from grader.show import for_terminal


@click.command("doctor")
def command() -> None:
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
        click.echo(for_terminal(f"grade: {error}"), err=True)
        sys.exit(NOT_ISOLATED)
    sys.exit(0 if level == "strong" else NOT_ISOLATED)
