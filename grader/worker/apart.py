"""How a process begins that takes apart what somebody handed in, an archive or a notebook, and how it answers.

Parsers were not made for what anybody may hand in: they loop, allocate what a header claims, and overflow their stack.
So such a process has little memory and processor time, holds no secret, and is killed when it takes too long. It is
started by `grader.intake.unpacker`, which believes nothing of its answer.
"""

import json
import os
import sys
from typing import Any

from .sandbox.layers import Sandbox
from .sandbox.limits import Limits, apply


def begin(arguments: dict[str, Any]) -> bytes:
    """What was handed in, from standard input. It may be looked at now: the sandbox is on, and all have been told."""
    data = sys.stdin.buffer.read()
    sandbox = Sandbox(arguments["readable"], arguments["user"], parent=arguments["parent"])
    apply(Limits(cpu_s=arguments["cpu_s"], memory_mib=arguments["memory_mib"], files=16))
    sandbox.enter()
    os.write(1, arguments["ready"].encode())
    return data


def answer(said: dict[str, Any]) -> None:
    """Say it in one line of JSON."""
    sys.stdout.write(json.dumps(said))
    sys.stdout.flush()
