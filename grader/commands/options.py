"""Options and values that several commands take."""

import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
#: Largest seed: what torch's generators take.
MOST_SEED = 2**63 - 1


def course(command: Command) -> Command:
    """The course's folder, as `course: Path | None`."""
    return click.option(
        "--course",
        type=click.Path(path_type=Path),
        help="The course's folder; found from the current one when left out.",
    )(command)


def isolation(command: Command) -> Command:
    """How well students' code must be kept in, as `isolation: str`, "strong" or "best"."""
    return click.option(
        "--isolation",
        type=click.Choice(["strong", "best"]),
        default="strong",
        show_default=True,
        help="strong: refuse to run where students' code cannot be kept away; best: as well as this machine can.",
    )(command)


def finite(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """A number of seconds. Raises BadParameter for infinity and NaN."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is no number of seconds", ctx, param)
    return value


def percent(ctx: click.Context, param: click.Parameter, value: str | None) -> Decimal | None:
    """A percentage, with or without its sign. Raises BadParameter below 0 and above 100."""
    if value is None:
        return None
    try:
        number = Decimal(value.removesuffix("%"))
    except ArithmeticError:
        number = Decimal(-1)
    if not 0 <= number <= 100:
        raise click.BadParameter(f"{value!r} is no percentage; wanted a number from 0 to 100", ctx, param)
    return number
