"""How commands end when something is in the way."""

import errno

import pytest

from grader.commands.ending import ending
from grader.fault import Fault


class ThirdKind(Fault):
    """A fault with an exit code of its own."""

    exit_code = 3


def ended(capsys, error, *arguments, **options):
    """Exit code and standard error of a command that raises an error."""
    with pytest.raises(SystemExit) as exit, ending(*arguments, **options):
        raise error
    return exit.value.code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (Fault("x: got y"), 2, "grade: x: got y\n"),
        (ThirdKind("weak"), 3, "grade: weak\n"),
        (OSError(errno.ENOSPC, "No space left", "a.zip"), 2, "grade: a.zip: No space left; nothing was written\n"),
        (OSError(errno.ENOSPC, "No space left"), 2, "grade: out: No space left; nothing was written\n"),
        (KeyboardInterrupt(), 130, "\ngrade: interrupted; nothing was written\n"),
    ],
)
def test_ending_is_a_line_and_an_exit_code(capsys, error, code, said):
    """Where, what, and what was not done."""
    assert (code, said) == ended(capsys, error, "nothing was written", place="out")


def test_ending_takes_the_power_over_a_terminal_from_what_is_quoted(capsys):
    """A folder's name may be in it."""
    assert "\x1b" not in ended(capsys, Fault("\x1b[2J"))[1]


def test_ending_shows_errors_of_the_graders_own_whole():
    """A traceback is what its makers need."""
    with pytest.raises(ZeroDivisionError), ending():
        raise ZeroDivisionError


def test_ending_leaves_a_closed_pipe_alone():
    """`grade ... | head` is no fault."""
    with pytest.raises(BrokenPipeError), ending():
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")
