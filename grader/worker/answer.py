"""One call, answered: build the module if there is one, run it, then its gradients when asked.

A request is data (`Frame`); so is the reply. The same code answers for a student in a worker and for the
reference in the trusted process, so both sides of a comparison were asked in the same way.
"""

import random
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NamedTuple

import torch

from . import describe
from .unfilled import is_empty, is_left_empty
from .wire import Frame

#: Innermost lines of a traceback that are reported.
MOST_FRAMES = 8
#: Names of a module that are reported.
MOST_NAMES = 200

Find = Callable[[str], ModuleType]
IsOwn = Callable[[str], bool]


class Pending(NamedTuple):
    """A forward pass whose gradients may still be asked for."""

    root: torch.Tensor | None
    names: list[str]
    leaves: list[torch.Tensor]
    #: Torch's default dtype during the forward pass, and so during the backward pass.
    dtype: str
    #: What was returned, the first items of a tuple of it.
    returned: list[Any]


_MISSING = object()
_NOTHING = Pending(None, [], [], "float64", [])


class _Stage:
    """Where in a call we are, for the report of an exception."""

    def __init__(self) -> None:
        self.name = "import"


class Answerer:
    """Answers calls on the callables of one set of modules, keeping what was built."""

    def __init__(self, find: Find, is_own: IsOwn) -> None:
        """`find` returns a module by name, or raises; `is_own` tells which files' lines may be shown."""
        self._find = find
        #: Which files' lines may be shown.
        self.is_own = is_own
        self._built: dict[int, torch.nn.Module] = {}
        #: The last forward pass, until its gradients have been asked for.
        self.pending = _NOTHING

    def load(self, part: str) -> dict[str, Any]:
        """Import a part; the reply names what it defines."""
        seed_generators(0)  # numbers drawn while a file is imported are the same in every worker and run
        with _default_dtype("float32"):
            try:
                return {"status": "loaded", "names": _public_names(self._find(part))}
            except BaseException as error:
                return self._raised(error, "import")

    def call(self, request: Frame) -> Frame:
        """Forward pass. The reply is `returned`, `raised`, `missing_name` or `wrong_parameters`."""
        header, tensors = request
        stage = _Stage()
        self.pending = _NOTHING
        seed_generators(header["seed"])
        with _default_dtype(header["dtype"]), torch.enable_grad():
            try:
                return self._forward(header, tensors, stage)
            except BaseException as error:
                return Frame(self._raised(error, stage.name), {})

    def gradient(self, request: Frame) -> Frame:
        """Gradients of the last call's output, given the upstream gradient. Replies `gradients` or `raised`."""
        root, names, leaves, dtype, _ = self.pending
        if root is None or not root.requires_grad:
            return Frame({"status": "gradients", "missing": names}, {})
        try:
            with _default_dtype(dtype), torch.enable_grad():
                # The same as handing the upstream gradient to `grad`, which would import sympy to compare two shapes.
                scalar = (root * request.tensors["upstream"].to(root.dtype)).sum()
                found = torch.autograd.grad(scalar, leaves, allow_unused=True)
            missing, plain = describe.gradients(names, found)
        except BaseException as error:
            return Frame(self._raised(error, "backward"), {})
        finally:
            self.pending = _NOTHING
        return Frame({"status": "gradients", "missing": missing}, plain)

    def forget(self) -> None:
        """The last forward pass has no gradients."""
        self.pending = _NOTHING

    def _forward(self, header: dict[str, Any], tensors: dict[str, torch.Tensor], stage: _Stage) -> Frame:
        module = self._find(header["part"])
        stage.name = "build" if header["build"] else "forward"
        function: Any = getattr(module, header["name"], _MISSING)
        if function is _MISSING:
            return Frame({"status": "missing_name", "names": _public_names(module)}, {})
        parameters: dict[str, torch.Tensor] = {}
        if header["build"]:
            built = self._build(function, header, tensors)
            if isinstance(built, Frame):
                return built
            function = built
            if header["reads"]:
                own = _named_by_reference(built, header)
                return _returned(tuple(own[name] for name in header["reads"]), {}, {})
            parameters = {
                name: one for name, one in _named_by_reference(built, header).items() if f"param.{name}" in tensors
            }
            built.train(header["mode"] == "train")
        before = {name: tensors[f"arg.{name}"] for name in header["tensors"]}
        leaves = {name: tensor.requires_grad_() for name, tensor in before.items() if name in header["wants"]}
        # A clone is no leaf, so an in-place slip costs the check for it and not every value.
        handed = {name: tensor.clone() for name, tensor in before.items()}
        stage.name = "forward"
        result = function(
            *[_argument(node, handed) for node in header["args"]],
            **{name: _argument(node, handed) for name, node in header["kwargs"].items()},
        )
        if is_left_empty(function, result):
            raise NotImplementedError
        stage.name = "result"
        kept = [getattr(function, name, None) for name in header["keeps"]]
        reply = _returned(result, before, handed, kept)
        self.pending = _pending(result, leaves, parameters, header["dtype"])
        return reply

    def _build(self, cls: Any, header: dict[str, Any], tensors: dict[str, torch.Tensor]) -> torch.nn.Module | Frame:
        """The module asked for, with the parameters sent; or the reply that says why it cannot be used."""
        spec = header["build"]
        module = self._built.get(spec["handle"])
        if module is None:
            module = cls(**spec["arguments"])
            if not isinstance(module, torch.nn.Module):
                return Frame({"status": "wrong_parameters", "observed": None, "type": type(module).__name__}, {})
            if spec["double"]:
                module = module.double()
            self._built[spec["handle"]] = module
        names = spec["names"]
        wanted = {name.removeprefix("param."): value for name, value in tensors.items() if name.startswith("param.")}
        wanted = {names.get(name, name): value for name, value in wanted.items()}
        observed = describe.parameters(module)
        shapes = {name: list(value.shape) for name, value in wanted.items()}
        is_right = observed == shapes if spec["strict"] else shapes.items() <= observed.items()
        if not observed and (wanted or header["reads"]) and is_empty(module):
            raise NotImplementedError
        if not is_right or not {names.get(name, name) for name in header["reads"]} <= observed.keys():
            return Frame({"status": "wrong_parameters", "observed": observed, "type": type(module).__name__}, {})
        parameters = dict(module.named_parameters())
        with torch.no_grad():
            for name, value in wanted.items():
                parameters[name].copy_(value)
            for name in parameters.keys() - wanted.keys() if spec["without_spare_biases"] else ():
                if name.endswith(".bias") and f"{name.removesuffix('bias')}weight" in wanted:
                    parameters[name].zero_()
        return module

    def _raised(self, error: BaseException, stage: str) -> dict[str, Any]:
        return describe.exception(error, self._frames(error), stage)

    def _frames(self, error: BaseException) -> list[dict[str, Any]]:
        """Lines of the student's own files that the exception passed, outermost first."""
        if isinstance(error, SyntaxError) and error.filename and self.is_own(error.filename):
            text = (error.text or "").rstrip()[: describe.MOST_TEXT]
            return [{"file": error.filename, "line": error.lineno, "function": "", "text": text}]
        lines = [line for line in traceback.extract_tb(error.__traceback__) if self.is_own(line.filename)]
        return [
            {
                "file": line.filename,
                "line": line.lineno,
                "function": line.name[: describe.MOST_TEXT],
                "text": (line.line or "")[: describe.MOST_TEXT],
            }
            for line in lines[-MOST_FRAMES:]
        ]


def _public_names(module: ModuleType) -> list[str]:
    names = [name for name in map(str, vars(module)) if not name.startswith("_")]
    return [name[: describe.MOST_TEXT] for name in names[:MOST_NAMES]]


def _argument(node: Any, handed: dict[str, torch.Tensor]) -> Any:
    return handed[node["tensor"]] if isinstance(node, dict) else node


def _named_by_reference(module: torch.nn.Module, header: dict[str, Any]) -> dict[str, torch.nn.Parameter]:
    """A module's parameters, by the names the reference has for them."""
    own = {student: reference for reference, student in header["build"]["names"].items()}
    return {own.get(name, name): parameter for name, parameter in module.named_parameters()}


def _returned(
    result: Any, before: dict[str, torch.Tensor], handed: dict[str, torch.Tensor], kept: Sequence[Any] = ()
) -> Frame:
    tensors: dict[str, torch.Tensor] = {}
    tree = describe.describe(result, tensors)
    nodes = [describe.describe(one, tensors, depth=1) for one in kept]
    with torch.no_grad():
        changed = describe.changed(before, handed)
    return Frame({"status": "returned", "tree": tree, "kept": nodes, "changed": changed}, tensors)


def _pending(result: Any, leaves: dict[str, torch.Tensor], parameters: dict[str, torch.Tensor], dtype: str) -> Pending:
    returned = list(result[: describe.MOST_ITEMS]) if isinstance(result, (tuple, list)) else [result]
    root = returned[0] if returned else result
    names = [f"arg.{name}" for name in leaves] + [f"param.{name}" for name in parameters]
    is_tensor = isinstance(root, torch.Tensor)
    return Pending(root if is_tensor else None, names, [*leaves.values(), *parameters.values()], dtype, returned)


@contextmanager
def _default_dtype(name: str) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, name))
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def seed_generators(seed: int) -> None:
    """Make code that draws random numbers repeatable."""
    torch.default_generator.manual_seed(seed)  # torch.manual_seed also visits every accelerator: 60 times slower
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)
