"""One submission under examination: its files, who answers for it, and what has been answered so far.

Equal questions are put once: the checks that look at shapes, sums, values and gradients of one call share its outcome.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from grader.assignment import Assignment
from grader.batch import Batch
from grader.call import Call
from grader.fitting import Fitting
from grader.given import Inputs
from grader.measured import Measured
from grader.oracle import Expected, OracleError
from grader.outcome import Outcome, WrongParameters
from grader.question import Observation, Question
from grader.sources import Sources
from grader.traced import Traced


class Respondent(Protocol):
    """Who answers calls: a student's worker, or trusted code in this process."""

    @property
    def used_s(self) -> float:
        """Seconds that the student's code has run so far."""

    def ask(self, call: Call, upstream: torch.Tensor | None) -> Outcome:
        """The outcome of a call, and with `upstream` of its backward pass."""

    def ask_all(self, batch: Batch) -> Sequence[Outcome] | None:
        """The outcomes of a batch, or None when each question is to be put alone."""

    def trace(self, call: Call, upstream: torch.Tensor | None) -> Traced | None:
        """The steps of a call, and with `upstream` of its backward pass; None when there is nothing to be told."""

    def begin_anew(self) -> None:
        """What is asked next meets nothing that was asked before: no module, nothing a file keeps for itself."""


class RightAnswers(Protocol):
    """Where expected answers come from: the course's reference, or a record of what it answered."""

    def expected(self, call: Call, source: str = "reference") -> Expected:
        """The answer to a check's question. Raises OracleError where there is none."""

    def answer(self, call: Call, upstream_of: Callable[[torch.Tensor], torch.Tensor] | None = None) -> Expected:
        """The answer to a question that no check puts; see `Oracle.answer`. Raises OracleError where there is none."""

    def parameter_shapes(self, part: str, name: str, arguments: Mapping[str, object]) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the parameters a module must have when built with these arguments."""


@dataclass(slots=True, kw_only=True)
class Printed:
    """What a student's code printed during one check."""

    text: str = ""
    is_cut: bool = False


class Examination:
    """What the checks of one session share."""

    def __init__(
        self,
        assignment: Assignment,
        inputs: Inputs,
        oracle: RightAnswers,
        respondent: Respondent,
        sources: Sources,
        batches: Sequence[Batch] = (),
    ) -> None:
        """`batches`: questions that are known beforehand, and may be put together."""
        self.assignment = assignment
        self.inputs = inputs
        self.oracle = oracle
        self.sources = sources
        self.printed = Printed()
        #: How far the check at hand found its answers from the library's, the furthest of each name.
        self.measured: dict[tuple[str, bool, str], Measured] = {}
        #: What came of every question, in the order they were first put, by key.
        self.observations: dict[str, Observation] = {}
        #: The questions of each check, by its id.
        self.put_by: dict[str, set[str]] = {}
        self._respondent = respondent
        self._fitting = Fitting(respondent.ask, self._shapes_of, self._expected, self.tolerance, lambda: self.used_s)
        self._batches = list(batches)
        self._answered: dict[str, Outcome] = {}
        #: Questions answered beforehand that no check has put yet.
        self._untold: set[str] = set()
        self._handles = 0
        self._reached: Counter[int] = Counter()
        self._is_visible = True
        self._check = ""

    def begin_check(self, check: str, is_visible: bool) -> None:
        """A check begins, and prints nothing yet. With the first of its kind, the batches of that kind are put.

        Those of hidden checks wait until then: nothing that is printed while a visible check runs can come from
        their inputs.
        """
        self.printed = Printed()
        self.measured = {}
        self._check = check
        self._is_visible = is_visible
        due = [batch for batch in self._batches if batch.is_visible == is_visible]
        self._batches = [batch for batch in self._batches if batch.is_visible != is_visible]
        for batch in due:
            self._put_together(batch)

    def measure(self, one: Measured) -> None:
        """Keep a difference that the check at hand found, unless a larger one of that name is known."""
        known = self.measured.get(one.key)
        if known is None or one.share > known.share:
            self.measured[one.key] = one

    def new_handle(self) -> int:
        """A number that names one built module in the worker."""
        self._handles += 1
        return self._handles

    def question(self, call: Call, upstream: torch.Tensor | None, history: Sequence[Call] = ()) -> Question:
        """The question that the check at hand puts."""
        return Question(call=call, upstream=upstream, is_visible=self._is_visible, history=tuple(history))

    def note(self, question: Question, outcome: Outcome, dtype: str) -> None:
        """Keep what came of a question, for the diagnosis. `dtype`: the precision it was answered in."""
        self.put_by.setdefault(self._check, set()).add(question.key)
        self.observations.setdefault(question.key, Observation(question=question, outcome=outcome, dtype=dtype))

    def ask_once(self, call: Call, upstream: torch.Tensor | None) -> Outcome:
        """The outcome of a call; a known one, when an equal call was made before."""
        if call.digest not in self._answered:
            self._answered[call.digest] = self.ask(call, upstream)
        elif call.digest in self._untold:
            self._untold.remove(call.digest)
            self._note_printed(self._answered[call.digest])
        return self._answered[call.digest]

    def ask(self, call: Call, upstream: torch.Tensor | None) -> Outcome:
        """Put the question now, whatever is known."""
        is_fitted = call.build is not None and call.build.is_by_structure
        outcome = (self._fitting if is_fitted else self._respondent).ask(call, upstream)
        if call.build:
            self._reached[call.build.handle] += 1
        self._note_printed(outcome)
        return outcome

    def ask_together(self, batch: Batch) -> Sequence[Outcome] | None:
        """The outcomes of a batch that no check put; None when each question is to be put alone."""
        return self._respondent.ask_all(batch)

    def trace(self, call: Call, upstream: torch.Tensor | None) -> Traced | None:
        """The steps of a call, and with `upstream` of its backward pass; None when there is nothing to be told."""
        return self._respondent.trace(self._fitting.fitted(call), upstream)

    def begin_anew(self) -> None:
        """What is asked next is asked of somebody who was asked nothing before."""
        self._respondent.begin_anew()

    @property
    def used_s(self) -> float:
        """Seconds that the student's code has run so far."""
        return self._respondent.used_s

    def calls_that_reached(self, call: Call) -> int:
        """How many calls the module of this one has had, not counting those whose outcome was looked up."""
        return self._reached[call.build.handle] if call.build else 0

    def tolerance(self, call: Call) -> float:
        """Largest relative difference allowed, by the precision a call was answered in."""
        tolerances = self.assignment.tolerances
        return tolerances.float32 if call.dtype == "float32" else tolerances.float64

    def _shapes_of(self, call: Call) -> Mapping[str, tuple[int, ...]]:
        assert call.build is not None
        return self.oracle.parameter_shapes(call.part, call.name, call.build.arguments)

    def _expected(self, call: Call) -> Expected | None:
        try:
            return self.oracle.expected(call)
        except OracleError:  # an error is right
            return None

    def _note_printed(self, outcome: Outcome) -> None:
        self.printed.text += outcome.printed
        self.printed.is_cut |= outcome.is_printed_cut

    def _put_together(self, batch: Batch) -> None:
        if self.assignment.part(batch.part).file not in self.sources.texts:
            return
        outcomes = self._respondent.ask_all(batch)
        if outcomes:
            for question, outcome in zip(batch.questions, outcomes, strict=True):
                if _is_to_be_fitted(question.call, outcome):
                    continue
                self._answered[question.call.digest] = outcome
                self._untold.add(question.call.digest)


def _is_to_be_fitted(call: Call, outcome: Outcome) -> bool:
    """Whether an answer only says which parameters there are."""
    return call.build is not None and call.build.is_by_structure and isinstance(outcome.reply, WrongParameters)
