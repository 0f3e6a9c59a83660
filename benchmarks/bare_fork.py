"""The other yardstick: the same student code and the same calls in a bare fork of a warm process.

No pytest, no comparison, no frames, no limits.

    bare_fork.py ASSIGNMENT bare           prints the processor seconds of one submission
    bare_fork.py ASSIGNMENT write FOLDER   writes what plain_checks.py asks, and of whom; prints the number of checks
"""

import importlib
import os
import resource
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from grader.call import Call
from grader.course import Course
from grader.examination import Examination
from grader.grade import Grading, with_grading
from grader.outcome import Outcome, Returned
from grader.sources import Sources
from grader.trusted import TrustedRespondent
from grader.worker import zygote

COURSE = Course(Path(__file__).resolve().parents[1])
#: What plain_checks.py reads.
CALLS = "calls.pt"


class _Recorder:
    """Answers with the reference, and keeps the calls."""

    def __init__(self, grading: Grading) -> None:
        self._reference = TrustedRespondent(grading.reference.oracle)
        self.calls: list[tuple[Call, torch.Tensor | None]] = []

    def ask(self, call: Call, upstream: torch.Tensor | None) -> Outcome:
        self.calls.append((call, upstream))
        return self._reference.ask(call, upstream)


def record(grading: Grading) -> list[tuple[Call, torch.Tensor | None]]:
    """The calls that a right submission is asked, with the upstream gradients of their backward passes."""
    recorder = _Recorder(grading)
    sources = Sources(texts=dict.fromkeys(grading.assignment.files, ""))
    grading.checking.examine(
        Examination(grading.assignment, grading.inputs, grading.reference.oracle, recorder, sources)
    )
    return recorder.calls


def answer(folder: Path, calls: Sequence[tuple[Call, torch.Tensor | None]]) -> None:
    """What a fork does: import the student's files, make the calls."""
    sys.path.insert(0, str(folder))
    for call, upstream in calls:
        torch.set_default_dtype(getattr(torch, call.dtype))
        function = getattr(importlib.import_module(call.part), call.name)
        tensors = {name: tensor.clone() for name, tensor in call.payload.arguments.items()}
        wanted = [tensors[name].requires_grad_() for name in call.wants]
        try:
            if call.reads:  # of a new module
                function(**call.build.arguments)
                continue
            if call.build:
                function = function(**call.build.arguments)
                function = function.double() if call.build.is_double else function
                function.load_state_dict(call.payload.parameters, strict=False)
                wanted += function.parameters()
            values = [tensors[node["tensor"]] if isinstance(node, dict) else node for node in call.arguments]
            named = {
                name: tensors[node["tensor"]] if isinstance(node, dict) else node
                for name, node in call.keywords.items()
            }
            result = function(*values, **named)
        except (RuntimeError, TypeError, ValueError):  # asked for by a check, or gone in float32
            continue
        if upstream is not None:
            output = result[0] if isinstance(result, tuple) else result
            torch.autograd.grad(output, wanted, upstream, allow_unused=True)


def bare_s(students: Sequence[Path], calls: Sequence[tuple[Call, torch.Tensor | None]]) -> float:
    """Processor seconds of one fork, its making included; median over students."""
    figures = []
    for student in students:
        before = resource.getrusage(resource.RUSAGE_SELF)
        pid = os.fork()
        if pid == 0:
            answer(student, calls)
            os._exit(0)
        _, status, usage = os.wait4(pid, 0)
        if status:
            raise SystemExit(f"{student}: the fork ended with status {status}")
        after = resource.getrusage(resource.RUSAGE_SELF)
        forking = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        figures.append(usage.ru_utime + usage.ru_stime + forking)
    return statistics.median(figures)


def write(grading: Grading, folder: Path) -> None:
    """The reference as a student would hand it in, and a call for each check, with what it must give."""
    for part in grading.assignment.parts:
        modules = [callable.reference.partition(":")[0] for callable in part.callables.values()]
        (folder / part.file).write_text(grading.reference.edited.program(modules), encoding="utf-8")
    calls = {call.digest: (call, upstream) for call, upstream in record(grading)}
    asked = [_plain(grading, call, upstream) for call, upstream in calls.values()]
    count = len(grading.checking.specs)
    torch.save([asked[number % len(asked)] for number in range(count)], folder / CALLS)
    print(count)


def _plain(grading: Grading, call: Call, upstream: torch.Tensor | None) -> dict[str, Any]:
    outcome = TrustedRespondent(grading.reference.oracle).ask(call, upstream)
    gradients = {name: outcome.gradients.get(f"arg.{name}") for name in call.wants}
    return call.header() | {
        "inputs": call.payload.arguments,
        "parameters": call.payload.parameters,
        "upstream": upstream,
        "raises": not isinstance(outcome.reply, Returned),
        "expected": [outcome.tensors[key] for key in sorted(outcome.tensors, key=int)],
        "gradients": {name: one for name, one in gradients.items() if one is not None},
    }


def main(grading: Grading) -> None:
    if sys.argv[2] == "write":
        write(grading, Path(sys.argv[3]))
        return
    calls = record(grading)
    zygote.warm()
    print(bare_s(sorted((COURSE.folder / "reference/variants" / grading.assignment.name).iterdir()), calls))


if __name__ == "__main__":
    with_grading(COURSE, COURSE.assignment(sys.argv[1]), 1, main)
