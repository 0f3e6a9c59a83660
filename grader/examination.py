"""One submission under examination: its files, who answers for it, and what has been answered so far.

Equal questions are put once: the checks that look at shapes, sums, values and gradients of one call share its outcome.
"""

from dataclasses import dataclass
from typing import Protocol

import torch

from grader.assignment import Assignment
from grader.call import Call
from grader.given import Inputs
from grader.oracle import Oracle
from grader.outcome import Outcome
from grader.sources import Sources


class Respondent(Protocol):
    """Who answers calls: a student's worker, or trusted code in this process."""

    def ask(self, call: Call, upstream: torch.Tensor | None) -> Outcome:
        """The outcome of a call, and with `upstream` of its backward pass."""


@dataclass(slots=True, kw_only=True)
class Printed:
    """What a student's code printed during one check."""

    text: str = ""
    is_cut: bool = False


class Examination:
    """What the checks of one session share."""

    def __init__(
        self, assignment: Assignment, inputs: Inputs, oracle: Oracle, respondent: Respondent, sources: Sources
    ) -> None:
        self.assignment = assignment
        self.inputs = inputs
        self.oracle = oracle
        self.sources = sources
        self.printed = Printed()
        self._respondent = respondent
        self._answered: dict[str, Outcome] = {}
        self._handles = 0

    def new_handle(self) -> int:
        """A number that names one built module in the worker."""
        self._handles += 1
        return self._handles

    def ask_once(self, call: Call, upstream: torch.Tensor | None) -> Outcome:
        """The outcome of the question; a known one, when an equal question was put before."""
        if call.digest not in self._answered:
            self._answered[call.digest] = self.ask(call, upstream)
        return self._answered[call.digest]

    def ask(self, call: Call, upstream: torch.Tensor | None) -> Outcome:
        """Put the question now, whatever is known."""
        outcome = self._respondent.ask(call, upstream)
        self.printed.text += outcome.printed
        self.printed.is_cut |= outcome.is_printed_cut
        return outcome
