"""What is wrong with one answer, told so that two failing calls can be compared: do they fail in the same way?

Checks judge answers too (`answer`), claim by claim, and with words for a student. Here there is one question only, put
to many small calls: is this still the failure that we started from, and is it large enough to be seen?
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch

from grader import compare
from grader.assignment import Assignment
from grader.call import Call
from grader.oracle import Expected
from grader.outcome import Gradients, Node, Outcome, Raised, Returned, WrongParameters
from grader.simpler import Trial

Kind = Literal["raised", "not raised", "form", "dtype", "shape", "value", "no gradient", "gradient"]
#: A value counts as wrong when it differs by so many times what is allowed: nothing that is shown may be in doubt.
_CLEARLY = 10.0
#: A gradient that ought to be smaller is not missed.
_SEEN = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The right answer is an exception."""

    #: Name of its class.
    error: str


Right = Expected | Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """How one answer is wrong."""

    kind: Kind
    #: Values or gradients that are wrong, or what was raised and where.
    names: tuple[str, ...]
    #: Largest difference; infinite where it is none of numbers.
    difference: float = math.inf
    #: For each head whether it is wrong, in a value that has an axis for them.
    heads: tuple[bool, ...] = ()

    @property
    def gradients(self) -> tuple[str, ...]:
        """The gradients to look at: those of arguments, from which those of parameters follow; else of parameters."""
        return tuple(name for name in self.names if name.startswith("arg.")) or self.names

    @property
    def is_of_gradients(self) -> bool:
        """Whether the values are right, and it shows in the backward pass only."""
        return self.kind in ("gradient", "no gradient") or (self.kind == "raised" and "backward" in self.names)

    def is_like(self, start: "Symptom") -> bool:
        """Whether it may stand for the start: wrong in the same way, and in the same values."""
        if self.kind != start.kind or math.isinf(self.difference) != math.isinf(start.difference):
            return False
        if self.kind in ("gradient", "no gradient"):  # some vanish in small calls
            return set(self.names) <= set(start.names)
        return self.names == start.names

    def has_fewer_heads(self, other: "Symptom") -> bool:
        """Whether heads that are wrong in the other, of as many, look right in this one."""
        return len(self.heads) == len(other.heads) and self.heads != other.heads


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A failing call, and how it fails."""

    trial: Trial
    right: Right
    outcome: Outcome
    symptom: Symptom


def symptom_of(assignment: Assignment, call: Call, outcome: Outcome, right: Right) -> Symptom | None:
    """How an answer is wrong; None when it is right, or when there is no answer to speak of.

    None too where numbers or words are asked for that no tensor holds: a message shows the whole call and both answers.
    """
    reply = outcome.reply
    if isinstance(right, Refused):
        return _not_raised(reply, right)
    if isinstance(reply, Raised):
        return _raised(reply)
    if not isinstance(reply, Returned) or right.plain:
        return None
    return _Judged(assignment, call, outcome, right).symptom()


def values_of(assignment: Assignment, call: Call, outcome: Outcome) -> dict[str, torch.Tensor]:
    """The returned tensors by name, as float64; Boolean ones stay Boolean."""
    if not isinstance(outcome.reply, Returned):
        return {}
    nodes = outcome.reply.tree.values
    names = assignment.callable(call.part, call.name).returns
    return {
        name: tensor if tensor.dtype == torch.bool else tensor.double()
        for name, node in zip(names, nodes, strict=False)
        if node.data is not None and (tensor := outcome.tensors[node.data]) is not None
    }


def _not_raised(reply: object, right: Refused) -> Symptom | None:
    if isinstance(reply, Raised):
        is_right = right.error in reply.bases
        return Symptom(kind="not raised", names=(reply.type,)) if _is_of_the_code(reply) and not is_right else None
    return Symptom(kind="not raised", names=()) if isinstance(reply, (Returned, WrongParameters)) else None


def _raised(reply: Raised) -> Symptom | None:
    if not _is_of_the_code(reply):
        return None
    line = f"{reply.frames[-1].file}:{reply.frames[-1].line}" if reply.frames else ""
    return Symptom(kind="raised", names=(reply.type, reply.stage, line))


def _is_of_the_code(raised: Raised) -> bool:
    """Whether an exception tells how the code computes: it was written, came to run, and had memory."""
    return raised.stage != "import" and not raised.is_unfilled and not raised.is_out_of_memory


class _Judged:
    """An answer that came, beside the right one."""

    def __init__(self, assignment: Assignment, call: Call, outcome: Outcome, right: Expected) -> None:
        assert isinstance(outcome.reply, Returned)
        self._call, self._outcome, self._right = call, outcome, right
        self._about = assignment.callable(call.part, call.name)
        self._names = self._about.returns
        self._tree = outcome.reply.tree
        tolerances = assignment.tolerances
        self._tolerance = tolerances.float32 if call.dtype == "float32" else tolerances.float64

    def symptom(self) -> Symptom | None:
        nodes = dict(zip(self._names, self._tree.values, strict=False))
        if self._names[0] not in nodes or any(node.kind != "tensor" or node.oddity for node in nodes.values()):
            return Symptom(kind="form", names=(self._tree.kind, self._tree.type))
        return (
            self._shapes(nodes)
            or self._dtypes(nodes)
            or self._values(nodes)
            or self._form(nodes)
            or (self._gradients() if self._right.upstream is not None else None)
        )

    def _form(self, nodes: Mapping[str, Node]) -> Symptom | None:
        is_tuple = self._tree.kind == "sequence"
        is_right = is_tuple == (len(self._names) > 1) and len(self._tree.values) == len(self._names)
        return None if is_right else Symptom(kind="form", names=(self._tree.kind, self._tree.type, str(len(nodes))))

    def _shapes(self, nodes: Mapping[str, Node]) -> Symptom | None:
        wrong = tuple(
            name
            for name, node in nodes.items()
            if name in self._right.values and not _fits(node.shape or (), self._right.values[name])
        )
        return Symptom(kind="shape", names=wrong) if wrong else None

    def _dtypes(self, nodes: Mapping[str, Node]) -> Symptom | None:
        wrong = tuple(
            name
            for name, node in nodes.items()
            if name in self._right.values and not self._has_dtype(node, self._right.values[name].dtype)
        )
        return Symptom(kind="dtype", names=wrong) if wrong else None

    def _has_dtype(self, node: Node, wanted: torch.dtype) -> bool:
        tensor = self._outcome.tensors[node.data] if node.data is not None else None
        if tensor is None:
            return False
        if wanted == torch.bool:  # a mask of 0 and 1 is one
            return bool(((tensor == 0) | (tensor == 1)).all())
        return node.dtype == str(wanted).removeprefix("torch.")

    def _values(self, nodes: Mapping[str, Node]) -> Symptom | None:
        observed = {name: self._outcome.tensors[node.data or ""] for name, node in nodes.items()}
        return self._differing("value", observed, {name: self._right.values[name] for name in nodes})

    def _gradients(self) -> Symptom | None:
        backward = self._outcome.backward
        if isinstance(backward, Raised):
            return _raised(backward)
        if not isinstance(backward, Gradients):
            return None
        expected = self._right.gradients
        missing = tuple(
            name for name in backward.missing if name in expected and float(expected[name].abs().max()) > _SEEN
        )
        if missing:
            return Symptom(kind="no gradient", names=missing)
        observed = self._outcome.gradients
        there = {name: right for name, right in expected.items() if name in observed}
        return self._differing("gradient", observed, there)

    def _differing(
        self, kind: Kind, observed: Mapping[str, torch.Tensor], expected: Mapping[str, torch.Tensor]
    ) -> Symptom | None:
        allowed = compare.allowance(self._tolerance, expected.values())
        found: dict[str, float] = {}
        heads: tuple[bool, ...] = ()
        for name, right in expected.items():
            seen = observed[name].broadcast_to(right.shape) if right.dtype == torch.bool else observed[name]
            limit = 0.0 if right.dtype == torch.bool else _CLEARLY * allowed
            mismatch = compare.compare(seen, right, limit)
            if mismatch:
                found[name] = math.inf if math.isnan(mismatch.difference) else mismatch.difference
                heads = heads or self._heads(name, seen, right, limit)
        return Symptom(kind=kind, names=tuple(found), difference=max(found.values()), heads=heads) if found else None

    def _heads(self, name: str, seen: torch.Tensor, right: torch.Tensor, limit: float) -> tuple[bool, ...]:
        axes = self._about.axes.get(name, ())
        if "head" not in axes or len(axes) != right.ndim:
            return ()
        pairs = zip(seen.unbind(axes.index("head")), right.unbind(axes.index("head")), strict=True)
        return tuple(compare.compare(*pair, limit) is not None for pair in pairs)


def _fits(shape: tuple[int, ...], expected: torch.Tensor) -> bool:
    """Whether a value has its shape; a mask need only be broadcast to it."""
    if shape == tuple(expected.shape):
        return True
    if expected.dtype != torch.bool or len(shape) > expected.ndim:
        return False
    pairs = zip(reversed(shape), reversed(expected.shape), strict=False)
    return all(length in (1, wanted) for length, wanted in pairs)
