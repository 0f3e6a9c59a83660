"""Expected answers: the reference, or PyTorch's own module, asked the same question in the trusted process.

All students of a run are asked the same questions, so each answer is computed once and looked up afterwards.
"""

import importlib
import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import torch

from grader.assignment import Assignment
from grader.call import Call
from grader.given import Given
from grader.worker.answer import Answerer
from grader.worker.wire import Frame

#: Name under which a course's `reference/` folder is imported; its modules import each other by it.
PACKAGE = "reference"


class CourseError(Exception):
    """The course's reference cannot answer: a fault of the course, never of a student."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The right answer to a call."""

    #: By the assignment's names (`output`, `weights`).
    values: Mapping[str, torch.Tensor]
    #: By name, `arg.query` or `param.q_proj.weight`; empty for a call without gradients.
    gradients: Mapping[str, torch.Tensor]
    #: Upstream gradient of the first value; None for a call without gradients.
    upstream: torch.Tensor | None


class Oracle:
    """Answers of a course's reference modules, remembered by question."""

    def __init__(self, folder: Path, assignment: Assignment, seed: int) -> None:
        """`folder`: the course's `reference/`; `seed`: of the run, from which upstream gradients are drawn."""
        self._assignment = assignment
        self._seed = seed
        self._modules = load_package(folder)
        self._known: dict[tuple[str, str], Expected] = {}

    def expected(self, call: Call, source: str = "reference") -> Expected:
        """The answer of `source`, a key of the callable's entry in `assignment.toml` (`reference`, `library`).

        Raises:
            CourseError: the reference raised, or returned something the assignment does not state.
        """
        key = (call.digest, source)
        if key not in self._known:
            self._known[key] = self._ask(call, source)
        return self._known[key]

    def parameter_shapes(self, part: str, name: str, arguments: Mapping[str, object]) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the parameters a module must have when built with these arguments."""
        module, attribute = self._target(part, name, "reference")
        built = getattr(self._find(module), attribute)(**arguments)
        return {key: tuple(parameter.shape) for key, parameter in built.named_parameters()}

    def _ask(self, call: Call, source: str) -> Expected:
        answerer = Answerer(self._find, is_own=lambda file: False)
        reply = answerer.call(call.decoded(*self._target(call.part, call.name, source)))
        if reply.header["status"] != "returned":
            raise CourseError(f"the {source} of {call.name} did not answer: {reply.header}")
        values = self._values(call, reply)
        if not call.is_with_gradients:
            return Expected(values=values, gradients={}, upstream=None)
        output = next(iter(values.values()))
        # Random, since the sum of the outputs hides whole classes of errors; equal for equal questions.
        upstream = Given(self._seed, "upstream").normal(call.digest, *output.shape).to(output.dtype)
        gradients = answerer.gradient(Frame({}, {"upstream": upstream}))
        if gradients.header["status"] != "gradients":
            raise CourseError(f"the {source} of {call.name} has no gradients: {gradients.header}")
        # An input that the answer does not depend on has the gradient zero.
        zeros = {name: torch.zeros_like(self._leaf(call, name)) for name in gradients.header["missing"]}
        return Expected(values=values, gradients=gradients.tensors | zeros, upstream=upstream)

    def _values(self, call: Call, reply: Frame) -> dict[str, torch.Tensor]:
        tree = reply.header["tree"]
        nodes = tree["items"] if tree["kind"] == "sequence" else [tree]
        names = self._assignment.callable(call.part, call.name).returns
        if len(nodes) < len(names):
            raise CourseError(f"the reference of {call.name} returned {len(nodes)} values, the assignment names {names}")
        # A source may leave a value out (the library's fused attention gives no weights).
        return {name: reply.tensors[node["data"]] for name, node in zip(names, nodes, strict=False) if node.get("data")}

    def _leaf(self, call: Call, name: str) -> torch.Tensor:
        kind, _, key = name.partition(".")
        if kind == "arg":
            return call.tensors[key]
        assert call.build is not None
        return call.build.parameters[key]

    def _target(self, part: str, name: str, source: str) -> tuple[str, str]:
        target = self._assignment.callable(part, name).sources.get(source)
        if target is None:
            raise CourseError(f"{self._assignment.where}: {part}.{name} has no {source!r}")
        module, _, attribute = target.partition(":")
        return module, attribute

    def _find(self, module: str) -> ModuleType:
        if module not in self._modules:
            self._modules[module] = importlib.import_module(f"{PACKAGE}.{module}")
        return self._modules[module]


def load_package(folder: Path) -> dict[str, ModuleType]:
    """Make a course's reference importable as `reference`, whatever else has that name; returns an empty module table."""
    for name in [name for name in sys.modules if name == PACKAGE or name.startswith(f"{PACKAGE}.")]:
        del sys.modules[name]
    spec = importlib.util.spec_from_file_location(PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)])
    if spec is None or spec.loader is None or not (folder / "__init__.py").is_file():
        raise CourseError(f"{folder}: no reference package (an __init__.py) is there")
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)
    return {}
