"""Being stopped from outside, and the exit code it ends with."""

import subprocess
import sys

STOPPED_IN_TEXT = """
import os, signal
from grader import interrupt

interrupt.listen()
try:
    exec("os.kill(os.getpid(), signal.SIGINT)")
except KeyboardInterrupt:
    interrupt.leave()
"""


def test_interrupt_in_text_that_a_library_runs_exits_130(tmp_path):
    """As in the `exec` of a dataclass, after which the interpreter itself would end by the signal."""
    (tmp_path / "stopped.py").write_text(STOPPED_IN_TEXT)

    result = subprocess.run([sys.executable, "-m", "stopped"], cwd=tmp_path, check=False)

    assert 130 == result.returncode
