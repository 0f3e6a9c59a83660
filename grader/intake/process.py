"""A process in which something that was handed in is taken apart: started with limits, in an environment of its own.

It runs a program of `grader.worker` that is believed in nothing: its limits are set before it looks at anything, and
whoever starts it bounds what is read of it, and kills it.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

_BOOT = Path(__file__).parents[1] / "worker" / "boot.py"
_ENVIRONMENT = {"LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
#: What it says before it looks at what it was given: what goes wrong from there on is the doing of that.
READY = b"ready\n"


def start_process(
    program: str, settings: Mapping[str, Any], stdin: int | IO[bytes], *, cpu_s: int, memory_mib: int
) -> "subprocess.Popen[bytes]":
    """Start a program; what it writes is in `stdout`, unbuffered, and begins with `READY`.

    Args:
        program: a module of `grader.worker`.
        settings: its own; they may replace the limits.
        stdin: what it reads, or `subprocess.PIPE`.
        cpu_s: seconds of its processor time.
        memory_mib: of its memory.

    Raises:
        OSError: there is no process to be had.
    """
    own = {
        "module": program,
        "path": [],
        "packages": [],
        "parent": os.getpid(),
        "cpu_s": cpu_s,
        "memory_mib": memory_mib,
        "ready": READY.decode(),
    }
    return subprocess.Popen(
        [sys.executable, "-S", "-s", "-P", str(_BOOT), json.dumps(own | dict(settings))],
        env=_ENVIRONMENT,
        cwd="/",
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        start_new_session=True,
    )
