"""Expected answers: the reference, or PyTorch's own module, asked the same question in the trusted process.

All students of a run are asked the same questions, so each answer is computed once and looked up afterwards.
"""

import importlib
import importlib.util
import json
import sys
from collections.abc import Callable as Function
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import torch

from grader.assignment import Assignment, near
from grader.call import Call
from grader.given import Inputs
from grader.outcome import Node
from grader.plain import Plain, is_finite, plain_of
from grader.worker.answer import Answerer
from grader.worker.wire import Frame

_NOTHING_PLAIN: Mapping[str, Plain] = MappingProxyType({})
#: Name under which a course's `reference/` folder is imported; its modules import each other by it.
PACKAGE = "reference"


class OracleError(Exception):
    """The course's reference cannot answer: a fault of the course, never of a student."""

    def __init__(self, text: str, raised: str = "") -> None:
        """`raised`: name of the exception's class, where the reference raised one."""
        super().__init__(text)
        self.raised = raised


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The right answer to a call."""

    #: By the assignment's names (`output`, `weights`).
    values: Mapping[str, torch.Tensor]
    #: By name, `arg.query` or `param.q_proj.weight`; empty for a call without gradients.
    gradients: Mapping[str, torch.Tensor]
    #: Upstream gradient of the first value; None for a call without gradients.
    upstream: torch.Tensor | None
    #: By the assignment's names: what is a number, a word or a sequence of these, and no tensor.
    plain: Mapping[str, Plain] = field(default_factory=lambda: _NOTHING_PLAIN)


class Oracle:
    """Answers of a course's reference modules, remembered by question."""

    def __init__(self, folder: Path, assignment: Assignment, inputs: Inputs) -> None:
        """`folder`: the course's `reference/`.

        Raises:
            OracleError: there is no package in the folder.
        """
        self._assignment = assignment
        self._folder = folder
        self._upstreams = inputs.scope("upstream")
        self._modules: dict[str, ModuleType] = {}
        self._known: dict[tuple[str, str], Expected] = {}
        self._shapes: dict[str, dict[str, tuple[int, ...]]] = {}
        _load_package(folder)

    def expected(self, call: Call, source: str = "reference") -> Expected:
        """The answer of `source`, a key of the callable's entry in `assignment.toml` (`reference`, `library`).

        Raises:
            OracleError: the reference raised, or returned something the assignment does not state.
        """
        key = (call.digest, source)
        if key not in self._known:
            self._known[key] = self._ask(call, source)
        return self._known[key]

    def answer(self, call: Call, upstream_of: Function[[torch.Tensor], torch.Tensor] | None = None) -> Expected:
        """The reference's answer to a question that no check puts. It is not remembered: there are too many of these.

        Args:
            upstream_of: makes the upstream gradient from the first value; None: no gradients.

        Raises:
            OracleError: as `expected` does.
        """
        answerer, values, plain = self._forward(call, "reference")
        if upstream_of is None:
            return Expected(values=values, gradients={}, upstream=None, plain=plain)
        upstream = upstream_of(next(iter(values.values())))
        gradients = self._backward(answerer, call, "reference", upstream)
        return Expected(values=values, gradients=gradients, upstream=upstream, plain=plain)

    def parameter_shapes(self, part: str, name: str, arguments: Mapping[str, object]) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the parameters a module must have when built with these arguments."""
        key = shapes_key(part, name, arguments)
        if key not in self._shapes:
            module, attribute = self.target(part, name, "reference")
            built = getattr(self._find(module), attribute)(**arguments)
            self._shapes[key] = {name: tuple(parameter.shape) for name, parameter in built.named_parameters()}
        return self._shapes[key]

    @property
    def known(self) -> Mapping[tuple[str, str], Expected]:
        """All answers given so far, by the call's digest and the source."""
        return self._known

    @property
    def known_shapes(self) -> Mapping[str, Mapping[str, tuple[int, ...]]]:
        """All shapes of parameters told so far, by `shapes_key`."""
        return self._shapes

    def must_have_all(self) -> None:
        """Raise OracleError where something that the assignment names is not in the reference, or does not load."""
        for part in self._assignment.parts:
            for name, callable in part.callables.items():
                for source in callable.sources:
                    self._must_have(part.name, name, source)

    def answerer(self) -> Answerer:
        """A fresh answerer over the reference modules."""
        return Answerer(self._find, is_own=lambda file: False)

    def target(self, part: str, name: str, source: str = "reference") -> tuple[str, str]:
        """Module and name of a callable in a source. Raises OracleError when the assignment states none."""
        target = self._assignment.callable(part, name).sources.get(source)
        if target is None:
            raise OracleError(f"{self._assignment.where}: {part}.{name} has no {source!r}")
        module, _, attribute = target.partition(":")
        if not attribute:
            raise OracleError(f"{self._assignment.where}, {part}.{name}.{source}: got {target!r}, wanted 'MODULE:NAME'")
        return module, attribute

    def request(self, call: Call, source: str = "reference") -> Frame:
        """The call as a request to the reference."""
        return call.request(*self.target(call.part, call.name, source))

    def _ask(self, call: Call, source: str) -> Expected:
        answerer, values, plain = self._forward(call, source)
        if not call.is_with_gradients:
            return Expected(values=values, gradients={}, upstream=None, plain=plain)
        if not values:
            raise OracleError(f"the {source} of {call.name} returned no tensor that gradients could be taken of")
        output = next(iter(values.values()))
        # Random, since the sum of the outputs hides whole classes of errors; equal for equal questions.
        upstream = self._upstreams.normal(call.digest, *output.shape).to(output.dtype)
        gradients = self._backward(answerer, call, source, upstream)
        return Expected(values=values, gradients=gradients, upstream=upstream, plain=plain)

    def _forward(self, call: Call, source: str) -> tuple[Answerer, dict[str, torch.Tensor], dict[str, Plain]]:
        self._must_have(call.part, call.name, source)
        answerer = Answerer(self._find, is_own=lambda file: Path(file).parent == self._folder)
        reply = answerer.call(self.request(call, source))
        if reply.header["status"] != "returned":
            raised = reply.header.get("type", "") if reply.header["status"] == "raised" else ""
            raise OracleError(f"the {source} of {call.name} did not answer: {_in_words(reply.header)}", raised)
        values, plain = self._values(call, reply)
        for name in self._names(call) if source == "reference" else ():
            if name not in values and name not in plain:  # a check would compare with nothing, and pass
                raise OracleError(f"the reference of {call.name} returned no tensor for {name}, and no number or word")
        return answerer, values, plain

    def _backward(self, answerer: Answerer, call: Call, source: str, upstream: torch.Tensor) -> dict[str, torch.Tensor]:
        gradients = answerer.gradient(Frame({}, {"upstream": upstream}))
        if gradients.header["status"] != "gradients":
            raise OracleError(f"the {source} of {call.name} has no gradients: {_in_words(gradients.header)}")
        # An input that the answer does not depend on has the gradient zero.
        zeros = {name: torch.zeros_like(call.payload.tensors[name]) for name in gradients.header["missing"]}
        return gradients.tensors | zeros

    def _values(self, call: Call, reply: Frame) -> tuple[dict[str, torch.Tensor], dict[str, Plain]]:
        """The tensors, and the plain values. A callable with one name may return a sequence of numbers under it."""
        tree, kept = Node.model_validate(reply.header["tree"]), map(Node.model_validate, reply.header["kept"])
        names = self._names(call)
        whole = plain_of(tree, {}) if len(names) == 1 else None
        nodes = [*(tree.values if whole is None else (tree,)), *kept]
        if len(nodes) < len(names):
            raise OracleError(
                f"the reference of {call.name} returned {len(nodes)} values, the assignment names {names}"
            )
        # A source may leave a value out (the library's fused attention gives no weights).
        given = dict(zip(names, nodes, strict=False))
        plain = {name: value for name, node in given.items() if (value := plain_of(node, {})) is not None}
        if not all(map(is_finite, plain.values())):
            raise OracleError(f"the reference of {call.name} returned a number that is not finite: {plain}")
        return {name: reply.tensors[node.data] for name, node in given.items() if node.data is not None}, plain

    def _names(self, call: Call) -> tuple[str, ...]:
        """Names of the values of an answer to a call."""
        return call.reads or self._assignment.callable(call.part, call.name).values

    def _find(self, module: str) -> ModuleType:
        if module not in self._modules:
            file = self._folder / f"{module.replace('.', '/')}.py"
            try:
                self._modules[module] = importlib.import_module(f"{PACKAGE}.{module}")
            except Exception as error:
                if isinstance(error, ModuleNotFoundError) and error.name == f"{PACKAGE}.{module}":
                    known = near(module, [one.stem for one in sorted(self._folder.glob("[!_]*.py"))])
                    text = f"{self._assignment.where} names the reference module {module!r}: no {file} is there{known}"
                    raise OracleError(text) from None
                raise OracleError(f"{file} cannot be imported: {type(error).__name__}: {error}") from None
        return self._modules[module]

    def _must_have(self, part: str, name: str, source: str) -> None:
        module, attribute = self.target(part, name, source)
        known = vars(self._find(module))
        if attribute not in known:
            public = [one for one, value in known.items() if getattr(value, "__module__", "") == f"{PACKAGE}.{module}"]
            raise OracleError(
                f"{self._assignment.where}, {part}.{name}.{source}: {self._folder / module}.py has no "
                f"{attribute!r}{near(attribute, public)}"
            )


def _in_words(reply: Mapping[str, Any]) -> str:
    """Why there is no answer, for whoever wrote the reference."""
    if "type" not in reply:
        return str(dict(reply))
    line = "".join(f", line {one['line']} of {Path(one['file']).name}: {one['text']}" for one in reply["frames"][-1:])
    return f"{reply['type']}: {reply['message']}{line}"


def shapes_key(part: str, name: str, arguments: Mapping[str, object]) -> str:
    """Identity of a module that is built with these arguments."""
    return json.dumps([part, name, dict(arguments)], sort_keys=True)


def _load_package(folder: Path) -> None:
    """Make a course's reference importable as `reference`, whatever else has that name."""
    for name in [name for name in sys.modules if name == PACKAGE or name.startswith(f"{PACKAGE}.")]:
        del sys.modules[name]
    init = folder / "__init__.py"
    if not init.is_file():
        raise OracleError(f"{folder} is no package: wanted {init.name} and the modules that assignments name")
    spec = importlib.util.spec_from_file_location(PACKAGE, init, submodule_search_locations=[str(folder)])
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    try:
        spec.loader.exec_module(package)
    except Exception as error:
        raise OracleError(f"{init} cannot be imported: {type(error).__name__}: {error}") from None
