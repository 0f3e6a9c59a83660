"""What `grade` prints on: closed, full, or of few characters. Nothing here needs torch."""

import shlex
import subprocess
import sys

from conftest import PATIENCE_S, environment

GRADE = f"{shlex.quote(sys.executable)} -m grader"


def shell(command, folder):
    """Run a line of shell."""
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE_S
    )


def test_streams_output_on_a_full_disk_is_told_in_words(tmp_path):
    """Exit code 2, and what is full."""
    done = shell(f"{GRADE} --help >/dev/full", tmp_path)

    assert (2, "grade: standard output: No space left on device\n") == (done.returncode, done.stderr)


def test_streams_that_lack_a_letter_show_its_code(tmp_path):
    """As on a terminal of another country: a name is no reason to end without the table of a run."""
    program = "from grader.__main__ import ready_streams; "
    print_all = "ready_streams(); Console().print('Zoë 李雷')"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}from rich.console import Console; {print_all}"],
        env=environment() | {"PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        timeout=PATIENCE_S,
    )

    assert b"Zo\xeb \\u674e\\u96f7\n" == done.stdout, done.stderr
