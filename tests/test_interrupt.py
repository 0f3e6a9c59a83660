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


TORCH = """
import os, signal

os.kill(os.getpid(), signal.SIGINT)
IS_WHOLE = True
"""
STOPPED_WHILE_IMPORTING = """
import signal
from grader import interrupt

interrupt.listen()
try:
    import torch
    print(torch.IS_WHOLE, flush=True)
    while True:
        signal.pause()
except KeyboardInterrupt:
    interrupt.leave()
"""


def test_interrupt_while_torch_is_imported_comes_once_it_is_there(tmp_path):
    """Raised in the middle, it would be met by code in C++ that knows no exception, and ends the process."""
    (tmp_path / "torch.py").write_text(TORCH)
    (tmp_path / "stopped.py").write_text(STOPPED_WHILE_IMPORTING)

    result = subprocess.run(
        [sys.executable, "-m", "stopped"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (130, "True\n") == (result.returncode, result.stdout)
