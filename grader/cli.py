"""The command `grade`. `grade FOLDER` is short for `grade run FOLDER`; other words are commands.

A folder named like a command is graded by `grade run NAME` or `grade ./NAME`.
"""

import importlib
from pathlib import Path

import click

from grader import __version__

_OWN_OPTIONS = {"--help", "-h", "--version"}
#: Commands in the order of the help text: each is a module of `commands`.
_COMMANDS = ("run", "check", "lab", "handout", "export", "post", "compare", "new", "verify", "package", "doctor")


class _FolderOrCommand(click.Group):
    """A group whose first word may be left out: what is no command is a folder to grade. Loads what is typed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"grader.commands.{cmd_name}")
        command: click.Command = module.command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in _COMMANDS and args[0] not in _OWN_OPTIONS:
            args = ["run", *args]
        elif args and Path(args[0]).is_dir() and _may_be_meant_as_folder(args[1:]):
            click.echo(
                f"{args[0]} is taken as a command; to grade the folder of that name: grade ./{args[0]}",
                err=True,
            )
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "SUBMISSIONS [OPTIONS] | COMMAND [ARGS]...")


def _may_be_meant_as_folder(rest: list[str]) -> bool:
    """Whether what stands behind a command's name could stand behind a folder's: `run` takes one, and then options."""
    return not rest or rest[0].startswith("-")


@click.group(cls=_FolderOrCommand, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
@click.version_option(__version__, prog_name="grade")
def main() -> None:
    """Grade attention homework.

    SUBMISSIONS is a folder with one folder, archive (zip, tar, tar.gz) or notebook per student, a download of Canvas,
    Moodle or Gradescope, a folder of git clones, or what one student handed in. A folder that is named like a command
    is graded by `grade ./NAME`.
    """
