"""A course of one small assignment to test with, and student code that answers for it in this process.

`write_course` writes the folders; `examination_of` puts them before a `Pupil`, who is asked as a worker would be.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from grader.batch import Batch
from grader.call import Call
from grader.course import Course
from grader.examination import Examination, Respondent
from grader.given import Inputs
from grader.oracle import Oracle
from grader.outcome import Forbidden, Outcome, Raised, Returned, read_reply
from grader.sources import Sources
from grader.traced import Traced, read_trace
from grader.worker import wire
from grader.worker.answer import Answerer
from grader.worker.trace import record

ASSIGNMENT = """\
title = "Tiny"
published_seed = 5

[[parts]]
name = "mix"
title = "Mixing"
points = 6

[parts.callables.mix]
kind = "function"
arguments = ["query", "key", "mask"]
returns = ["output", "weights"]
axes = { output = ["row", "column"], weights = ["row", "column"], query = ["row", "column"] }
reference = "tiny:mix"
library = "tiny:mix_again"

[parts.callables.gate]
kind = "function"
arguments = ["length"]
returns = ["mask"]
axes = { mask = ["row", "column"] }
reference = "tiny:gate"

[[parts]]
name = "scale"
title = "Scaling"
points = 4

[parts.callables.Scale]
kind = "module"
arguments = ["query"]
returns = ["output"]
axes = { output = ["row", "column"], query = ["row", "column"] }
reference = "tiny:Scale"
"""

REFERENCE = """\
import torch
from torch import nn


def mix(query, key, mask=None):
    return query * key, query + key


def mix_again(query, key, mask=None):
    return key * query, None


def gate(length):
    if length < 0:
        raise ValueError("length must not be negative")
    return torch.ones(length, length, dtype=torch.bool).tril()


class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        if size < 1:
            raise ValueError("size must be positive")
        self.proj = nn.Linear(size, size + 1)

    def forward(self, query):
        return self.proj(query)
"""

CHECKS = {
    "test_mix.py": """\
from grader.checks import Checks

mix = Checks("mix")


@mix.check(points=4)
def test_output(student, given):
    \"\"\"The output is right.\"\"\"
    student(given.normal("query", 2, 3), given.normal("key", 2, 3), gradients=True).matches("output")
""",
    "test_mix_hidden.py": """\
from grader.checks import Checks

gate = Checks("gate")


@gate.check(points=2)
def test_gate(student):
    \"\"\"The gate is right.\"\"\"
    student(3).matches_mask(3, 3)
""",
    "test_scale.py": """\
from grader.checks import Checks

scale = Checks("Scale")


@scale.check(points=4)
def test_scale(student, given):
    \"\"\"The output is right.\"\"\"
    student.build(given=given, size=3)(given.normal("query", 2, 3)).matches()
""",
}

STUB = 'def mix(query, key, mask=None):\n    """Multiply and add."""\n    raise NotImplementedError\n'


def write_course(folder: Path) -> Course:
    """Write the course into an empty folder."""
    files = {
        "reference/__init__.py": "",
        "reference/tiny.py": REFERENCE,
        "assignments/tiny/assignment.toml": ASSIGNMENT,
        "assignments/tiny/stub/mix.py": STUB,
        **{f"assignments/tiny/checks/{name}": text for name, text in CHECKS.items()},
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return Course(folder)


@contextmanager
def own_reference() -> Iterator[None]:
    """Give the name `reference`, which an oracle takes for its course, back to who had it."""
    before = _reference_modules()
    try:
        yield
    finally:
        for name in _reference_modules():
            del sys.modules[name]
        sys.modules.update(before)


def _reference_modules() -> dict[str, ModuleType]:
    return {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "reference"}


class Pupil:
    """A student whose code runs here: the callables given, asked over the wire's own bytes."""

    #: Nobody limits it.
    used_s = 0.0

    def __init__(
        self, callables: Mapping[str, Callable[..., Any]], is_own: Callable[[str], bool] = lambda file: False
    ) -> None:
        """`is_own`: whether lines of a file are shown as the student's."""
        self._is_own = is_own
        module = ModuleType("pupil")
        vars(module).update(callables)
        self._module = module
        self.begin_anew()
        #: Every call put, in order.
        self.asked: list[Call] = []

    def ask_all(self, batch: Batch) -> None:
        """Each question is to be put alone."""

    def begin_anew(self) -> None:
        """Keep nothing that was built."""
        self._answerer = Answerer(lambda part: self._module, is_own=self._is_own)

    def trace(self, call: Call, upstream: torch.Tensor | None) -> Traced:
        """The steps of a call, and with `upstream` of its backward pass."""
        request = _over_the_wire(call.frame())
        if upstream is not None:
            request.tensors["upstream"] = upstream.clone()
        return read_trace(record(self._answerer, request))

    def ask(self, call: Call, upstream: torch.Tensor | None) -> Outcome:
        """The outcome of a call, and with `upstream` of its backward pass."""
        self.asked.append(call)
        answer = self._answerer.call(_over_the_wire(call.frame()))
        reply = read_reply(answer)
        assert not hasattr(reply, "missing")
        outcome = Outcome(reply=reply, tensors=answer.tensors)
        if upstream is None or not isinstance(reply, Returned) or not _fits(reply, upstream):
            return outcome
        gradients = self._answerer.gradient(wire.Frame({}, {"upstream": upstream}))
        return Outcome(
            reply=reply,
            tensors=answer.tensors,
            backward=read_reply(gradients),
            gradients=gradients.tensors,
        )


def _over_the_wire(data: bytes) -> wire.Frame:
    size = wire.PREFIX.size
    header, blob = wire.lengths(data[:size])
    return wire.decode(data[size : size + header], data[size + header : size + header + blob])


def _fits(reply: Returned, upstream: torch.Tensor) -> bool:
    root = reply.tree.items[0] if reply.tree.items else reply.tree
    return root.shape == tuple(upstream.shape) and "float" in root.dtype


class Scripted:
    """A respondent that gives the outcomes it was told, in order, the last one ever after."""

    used_s = 0.0

    def __init__(self, *outcomes: Outcome) -> None:
        self._outcomes = list(outcomes)
        self.asked: list[Call] = []

    def ask(self, call: Call, upstream: torch.Tensor | None) -> Outcome:
        """The next outcome."""
        self.asked.append(call)
        return self._outcomes.pop(0) if len(self._outcomes) > 1 else self._outcomes[0]

    def ask_all(self, batch: Batch) -> None:
        """Each question is to be put alone."""

    def trace(self, call: Call, upstream: torch.Tensor | None) -> None:
        """There are no steps."""

    def begin_anew(self) -> None:
        """Nothing was built."""


def examination_of(
    course: Course, respondent: Respondent | None = None, *, seed: int = 7, sources: Sources | None = None
) -> Examination:
    """An examination of the tiny assignment; its files are taken to be there unless `sources` says otherwise."""
    assignment = course.assignment("tiny")
    inputs = Inputs(seed)
    oracle = Oracle(course.reference, assignment, inputs)
    there = Sources(texts=dict.fromkeys(assignment.files, ""))
    return Examination(assignment, inputs, oracle, respondent or Pupil({}), sources or there)


def raised(**fields: Any) -> Raised:
    """An exception in a forward pass; any field can be replaced."""
    values: dict[str, Any] = {
        "status": "raised",
        "stage": "forward",
        "type": "RuntimeError",
        "bases": ("RuntimeError", "Exception", "BaseException", "object"),
        "message": "sizes do not fit",
        "frames": (),
    }
    return Raised(**(values | fields))


def forbidden(**fields: Any) -> Forbidden:
    """A forbidden call in a forward pass; any field can be replaced."""
    values: dict[str, Any] = {
        "status": "forbidden",
        "stage": "forward",
        "name": "torch.nn.functional.mix",
        "line": line(text="    return F.mix(query, key)"),
    }
    return Forbidden(**(values | fields))


def line(file: str = "mix.py", number: int = 3, text: str = "return query @ key", function: str = "mix") -> Any:
    """A line of the student's own."""
    return {"file": file, "line": number, "function": function, "text": text}
