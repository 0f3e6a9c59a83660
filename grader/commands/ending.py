"""How commands end when something is in the way: in a line and an exit code, and never in a traceback."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import click

from grader import interrupt
from grader.fault import Fault
from grader.show import for_terminal


@contextmanager
def ending(
    undone: str = "",
    *,
    place: object = None,
    interrupted: str = "interrupted",
    shown: Callable[[str], str] = for_terminal,
) -> Iterator[None]:
    """Exit in the manner of commands where the block raises a fault, an error of the system, or is interrupted.

    Args:
        undone: what was not done, said behind errors of the system and interruptions, as in "nothing was written".
        place: the file or folder that an error of the system is about where it does not say; None is the current one.
        interrupted: what is said of an interruption; nothing where it is empty, because it is how this command ends.
        shown: makes text safe for where it is printed.
    """
    tail = f"; {undone}" if undone else ""
    try:
        yield
    except Fault as fault:
        _exit(shown(str(fault)), fault.exit_code)
    except BrokenPipeError:  # whoever reads has had enough, which is no fault
        raise
    except OSError as error:
        _exit(shown(f"{error.filename or place or Path.cwd()}: {error.strerror or error}{tail}"), Fault.exit_code)
    except KeyboardInterrupt:
        _interrupted(f"{interrupted}{tail}" if interrupted else "")
    except Exception:
        if interrupt.has_come():  # a library caught the interruption, and stumbled over what it had left half done
            _interrupted(f"{interrupted}{tail}" if interrupted else "")
        raise


def _interrupted(text: str) -> NoReturn:
    click.echo(f"\ngrade: {text}" if text else "", err=True)
    interrupt.leave()


def _exit(text: str, code: int) -> NoReturn:
    click.echo(f"grade: {text}", err=True)
    sys.exit(code)
