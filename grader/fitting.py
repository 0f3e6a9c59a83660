"""Asking a module whose parts the student named: which of its parameters is which is found out, and remembered.

The reply to a first call says which parameters there are. Where they can be read in several ways, the one whose answers
agree decides; until one alone has agreed best, each call tries all of them.
"""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import torch

from grader import compare
from grader.call import Call
from grader.oracle import Expected
from grader.outcome import Gradients, Outcome, Returned, WrongParameters
from grader.structure import MOST_WAYS, mappings

#: Seconds of the student's time that trying may take. Right code is known at its first call, whatever its layers are
#: called; wrong code never, and its time is better spent on being asked.
_MOST_TRYING_S = 2.0

Ask = Callable[[Call, torch.Tensor | None], Outcome]


class Fitting:
    """What is known of the modules of one submission whose parameters are found by structure."""

    def __init__(
        self,
        ask: Ask,
        shapes_of: Callable[[Call], Mapping[str, tuple[int, ...]]],
        expected: Callable[[Call], Expected | None],
        tolerance: Callable[[Call], float],
        used_s: Callable[[], float],
    ) -> None:
        """Nothing has been asked yet.

        Args:
            ask: puts a call to the student's code.
            shapes_of: names and shapes of the parameters that the module of a call must have.
            expected: the right answer to a call; None where there is none.
            tolerance: largest relative difference of an answer to a call.
            used_s: seconds that the student's code has run so far.
        """
        self._ask = ask
        self._shapes_of = shapes_of
        self._expected = expected
        self._tolerance = tolerance
        self._used_s = used_s
        self._trying_s = 0.0
        #: By callable and arguments of `__init__`: names of the reference to names of the student's.
        self._names: dict[str, dict[str, str]] = {}

    def ask(self, call: Call, upstream: torch.Tensor | None) -> Outcome:
        """The outcome of a call to a module that is built by structure."""
        fitted = self.fitted(call)
        outcome = self._ask(fitted, upstream)
        reply = outcome.reply
        if fitted is not call or not isinstance(reply, WrongParameters) or reply.observed is None:
            return outcome
        ways = list(itertools.islice(mappings(self._shapes_of(call), reply.observed), MOST_WAYS))
        if not ways:
            return outcome
        if len(ways) == 1:
            self._names[_key(call)] = ways[0]
            return self._ask(self.fitted(call), upstream)
        return self._tried(call, upstream, ways)

    def fitted(self, call: Call) -> Call:
        """The call, with the names that the student gave; as it is where they are not known, or the task gives them."""
        if call.build is None or not call.build.is_by_structure:
            return call
        return _with_names(call, self._names.get(_key(call), {}))

    def _tried(self, call: Call, upstream: torch.Tensor | None, ways: list[dict[str, str]]) -> Outcome:
        """The outcome of the way of whose answer the most is right, or of the first."""
        expected = self._expected(call)
        asked = [_with_names(call, names) for names in ways]
        if expected is None:
            return self._ask(asked[0], upstream)
        outcomes = list(self._outcomes(asked, upstream))
        right = [self._count_right(one, expected, call) for one in outcomes]
        best = right.index(max(right))
        if max(right) and right.count(max(right)) == 1:
            self._names[_key(call)] = ways[best]
        return outcomes[best]

    def _outcomes(self, asked: list[Call], upstream: torch.Tensor | None) -> Iterator[Outcome]:
        """The outcomes of one way after the other, as long as there is time for trying; of the first in any case."""
        for number, call in enumerate(asked):
            if number and self._trying_s > _MOST_TRYING_S:
                return
            before_s = self._used_s()
            yield self._ask(call, upstream)
            self._trying_s += self._used_s() - before_s

    def _count_right(self, outcome: Outcome, expected: Expected, call: Call) -> int:
        """How many values and gradients of an outcome are right."""
        if not isinstance(outcome.reply, Returned):
            return 0
        values = [outcome.tensors.get(node.data or "") for node in outcome.reply.values]
        pairs = list(zip(values, expected.values.values(), strict=False))
        allowed = compare.allowance(self._tolerance(call), expected.values.values())
        count = sum(_are_close(*pair, allowed) for pair in pairs)
        if isinstance(outcome.backward, Gradients):
            allowed = compare.allowance(self._tolerance(call), expected.gradients.values())
            gradients = expected.gradients.items()
            count += sum(_are_close(outcome.gradients.get(name), one, allowed) for name, one in gradients)
        return count


def _are_close(observed: torch.Tensor | None, expected: torch.Tensor, allowed: float) -> bool:
    if observed is None or observed.shape != expected.shape:
        return False
    return compare.compare(observed.double(), expected.double(), allowed) is None


def _key(call: Call) -> str:
    assert call.build is not None
    return json.dumps([call.part, call.name, dict(call.build.arguments)], sort_keys=True)


def _with_names(call: Call, names: Mapping[str, str]) -> Call:
    if not names:
        return call
    assert call.build is not None
    return replace(call, build=replace(call.build, names=names))
