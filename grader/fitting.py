"""Asking a module whose parts the student named: which of its parameters is which is found out, and remembered.

The reply to a first call says which parameters there are. Where they can be read in several ways, the one whose answers
are right decides; until one alone has been, each call tries all of them.
"""

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import replace

import torch

from grader import compare
from grader.call import Build, Call
from grader.oracle import Expected
from grader.outcome import Gradients, Outcome, Returned, WrongParameters
from grader.structure import MOST_WAYS, mappings

Ask = Callable[[Call, torch.Tensor | None], Outcome]


class Fitting:
    """What is known of the modules of one submission whose parameters are found by structure."""

    def __init__(
        self,
        ask: Ask,
        shapes_of: Callable[[Call], Mapping[str, tuple[int, ...]]],
        expected: Callable[[Call], Expected | None],
        tolerance: Callable[[Call], float],
    ) -> None:
        """Nothing has been asked yet.

        Args:
            ask: puts a call to the student's code.
            shapes_of: names and shapes of the parameters that the module of a call must have.
            expected: the right answer to a call; None where there is none.
            tolerance: largest relative difference of an answer to a call.
        """
        self._ask = ask
        self._shapes_of = shapes_of
        self._expected = expected
        self._tolerance = tolerance
        #: By callable and arguments of `__init__`: names of the reference to names of the student's.
        self._names: dict[str, dict[str, str]] = {}

    def ask(self, call: Call, upstream: torch.Tensor | None) -> Outcome:
        """The outcome of a call to a module that is built by structure."""
        return self._found(call, upstream)[1]

    def fitted(self, call: Call) -> Call:
        """The call, with the names that the student gave; as it is where they are not known."""
        return _with_names(call, self._names.get(_key(call), {}))

    def _found(self, call: Call, upstream: torch.Tensor | None) -> tuple[Call, Outcome]:
        fitted = self.fitted(call)
        outcome = self._ask(fitted, upstream)
        reply = outcome.reply
        if fitted is not call or not isinstance(reply, WrongParameters) or reply.observed is None:
            return fitted, outcome
        ways = list(itertools.islice(mappings(self._shapes_of(call), reply.observed), MOST_WAYS))
        if not ways:
            return call, outcome
        if len(ways) == 1:
            self._names[_key(call)] = ways[0]
            return self.fitted(call), self._ask(self.fitted(call), upstream)
        return self._tried(call, upstream, ways)

    def _tried(self, call: Call, upstream: torch.Tensor | None, ways: list[dict[str, str]]) -> tuple[Call, Outcome]:
        """The first way whose answer is right, or the first of all."""
        expected = self._expected(call)
        asked = [_with_names(call, names) for names in ways]
        if expected is None:
            return asked[0], self._ask(asked[0], upstream)
        outcomes = [self._ask(one, upstream) for one in asked]
        right = [number for number, one in enumerate(outcomes) if self._agrees(one, expected, call)]
        if len(right) == 1:
            self._names[_key(call)] = ways[right[0]]
        best = (*right, 0)[0]
        return asked[best], outcomes[best]

    def _agrees(self, outcome: Outcome, expected: Expected, call: Call) -> bool:
        if not isinstance(outcome.reply, Returned):
            return False
        tolerance = self._tolerance(call)
        observed = [outcome.tensors.get(node.data or "") for node in outcome.reply.values]
        if not _are_close(observed, list(expected.values.values()), tolerance):
            return False
        if not isinstance(outcome.backward, Gradients):
            return not expected.gradients
        names = list(expected.gradients)
        return _are_close(
            [outcome.gradients.get(name, torch.zeros_like(expected.gradients[name])) for name in names],
            [expected.gradients[name] for name in names],
            tolerance,
        )


def _are_close(observed: list[torch.Tensor | None], expected: list[torch.Tensor], tolerance: float) -> bool:
    allowed = compare.allowance(tolerance, expected)
    return len(observed) >= len(expected) and all(
        one is not None and one.shape == other.shape and not compare.compare(one.double(), other.double(), allowed)
        for one, other in zip(observed, expected, strict=False)
    )


def _key(call: Call) -> str:
    assert call.build is not None
    return json.dumps([call.part, call.name, dict(call.build.arguments)], sort_keys=True)


def _with_names(call: Call, names: Mapping[str, str]) -> Call:
    if not names:
        return call
    build: Build | None = call.build
    assert build is not None
    return replace(call, build=replace(build, names=names))
