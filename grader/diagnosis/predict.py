"""What the reference answers to the questions of a run when mistakes are made in it.

All submissions of a run are asked the same, so an answer is got when it is first needed and kept. Where it comes from
is behind `Answers`: computed where the course is, recorded where a student checks their own work.
"""

import copy
from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

import numpy as np

from grader.assignment import Assignment
from grader.diagnosis.said import Kind, Said, said, same_form, same_numbers, scale
from grader.outcome import Node, Returned
from grader.question import Observation, Question
from grader.traced import Failure

#: Mistakes made together, by id.
Made = frozenset[str]
NOTHING: Made = frozenset()
#: Answers kept of one callable, of some KiB each.
_MOST_KEPT = 8000


class Answers(Protocol):
    """What one callable of the reference answers when mistakes are made in it."""

    #: Mistakes that the callable could show, in the book's order.
    candidates: tuple[str, ...]
    #: Ways to write it that are right.
    variations: tuple[str, ...]
    #: By how much numbers of an answer with mistakes may be off, times the largest of that answer.
    rounding: float
    #: Whether there are answers for sets of mistakes, too.
    is_for_sets: bool

    def are_compatible(self, made: Collection[str]) -> bool:
        """Whether the mistakes can be made together."""

    def said(self, made: Made, question: Question, right: Node | None, *, with_gradients: bool) -> Said:
        """The answer to a question. `right`: see `said.said`."""

    def failure(self, made: Made, question: Question) -> Failure | None:
        """What the call fails of; None where that is not certain."""


class Predictions:
    """Answers of the reference with mistakes made in it to the questions about one callable."""

    def __init__(
        self, assignment: Assignment, answers: Answers, part: str, name: str, rehearsed: Iterable[Observation]
    ) -> None:
        """`rehearsed`: the questions about the callable, as the reference answers them."""
        self.part, self.name = part, name
        self._tolerances = {"float64": assignment.tolerances.float64, "float32": assignment.tolerances.float32}
        self._answers = answers
        observations = tuple(rehearsed)
        self.questions: Mapping[str, Question] = {one.question.key: one.question for one in observations}
        is_broadcast = assignment.callable(part, name).is_broadcast
        self._trees = {one.question.key: _tree(one, is_broadcast) for one in observations}
        #: The right answers.
        self.right: Mapping[str, Said] = {one.question.key: self.read(one) for one in observations}
        #: Mistakes that the callable could show.
        self.candidates: tuple[str, ...] = answers.candidates
        self._reaching = self.candidates
        #: Ways to write it that are right; none first.
        self.contexts = NOTHING, *(frozenset((one,)) for one in answers.variations)
        self._values: dict[tuple[Made, str], Said] = {}
        self._whole: dict[tuple[Made, str], Said] = {}
        self._touching: dict[str, frozenset[str]] = {}

    def read(self, observation: Observation) -> Said:
        """What an observation of one of the questions says."""
        question = observation.question
        return said(observation.outcome, question.call, self._trees[question.key])

    def values(self, made: Made, key: str) -> Said:
        """The answer, without gradients."""
        if (made, key) in self._whole:
            return self._whole[made, key]
        if (made, key) not in self._values:
            self._make_room(self._values)
            self._values[made, key] = self._ask(made, key, with_gradients=False)
        return self._values[made, key]

    def whole(self, made: Made, key: str) -> Said:
        """The answer, with the gradients that were asked for."""
        if self.questions[key].upstream is None:
            return self.values(made, key)
        if (made, key) not in self._whole:
            self._make_room(self._whole)
            self._whole[made, key] = self._ask(made, key, with_gradients=True)
            self._values.pop((made, key), None)
        return self._whole[made, key]

    def are_compatible(self, made: Collection[str]) -> bool:
        """Whether the mistakes can be made together."""
        return self._answers.are_compatible(made)

    def agrees(self, observed: Said, made: Made, key: str, dtype: str = "float64") -> bool:
        """Whether the answer to a question is the one observed: form, numbers, inputs changed, gradients."""
        if "unraised" in observed.ignored:
            return True
        predicted, wanted = self.values(made, key), self.right[key]
        if wanted.kind is Kind.RAISED:
            error = wanted.bases[0]
            if observed.raises(error) or predicted.raises(error):
                return observed.raises(error) and predicted.raises(error)
            if observed.bases[:1] != predicted.bases[:1]:  # another error, or none
                return False
        if not same_form(observed, predicted, self._tolerances[dtype]) or observed.kind is Kind.OTHER:
            return False
        tolerance = self._tolerances[dtype] + (self._answers.rounding if made else 0.0)
        if not same_numbers(observed.numbers, predicted.numbers, tolerance * scale(predicted.numbers)):
            return False
        if observed.changed != predicted.changed and "changed" not in observed.ignored:
            return False
        return self._gradients_agree(observed, made, key, tolerance)

    def touching(self, key: str) -> tuple[str, ...]:
        """The mistakes that alone change the answer to a question, in the book's order."""
        if key not in self._touching:
            self._touching[key] = frozenset(
                one for one in self._reaching if not self.agrees(self.right[key], frozenset((one,)), key)
            )
        return tuple(one for one in self.candidates if one in self._touching[key])

    def without(self, mistakes: Collection[str]) -> "Predictions":
        """The same, for a book that lacks some mistakes. What is computed is shared."""
        other = copy.copy(self)
        other.candidates = tuple(one for one in self.candidates if one not in mistakes)
        return other

    @property
    def are_for_sets(self) -> bool:
        """Whether there are answers for sets of mistakes, too."""
        return self._answers.is_for_sets

    def failure(self, made: Made, key: str) -> Failure | None:
        """What the call fails of; None where that is not certain."""
        return self._answers.failure(made, self.questions[key])

    def kind(self, key: str) -> object:
        """What sort of question it is, whatever its sizes and numbers: questions of one kind tell much alike."""
        call = self.questions[key].call
        plain = sorted((name, str(value)) for name, value in call.keywords.items() if not isinstance(value, dict))
        build = sorted((name, value) for name, value in (call.build.arguments if call.build else {}).items())
        special = [name for name, value in build if value in (1, False)]
        return len(call.arguments), *plain, *call.payload.arguments, *special, call.dtype

    # --- how ------------------------------------------------------------------------------------------------------

    def _gradients_agree(self, observed: Said, made: Made, key: str, tolerance: float) -> bool:
        if observed.kind is not Kind.VALUES or self.questions[key].upstream is None:
            return True
        if not np.isfinite(observed.numbers).all():  # what comes back through NaN depends on how it was written
            return True
        predicted = self.whole(made, key)
        is_part = "gradients" in observed.ignored  # those that are there must be right
        if is_part and (observed.is_backward_raised or not observed.gradients):
            return True
        if observed.is_backward_raised or predicted.is_backward_raised:
            return observed.is_backward_raised == predicted.is_backward_raised
        if observed.gradients is None or predicted.gradients is None:
            return observed.gradients is predicted.gradients
        allowed = tolerance * scale(*predicted.gradients.values())
        names = observed.gradients.keys() | (() if is_part else predicted.gradients.keys())
        return all(_same_gradient(observed.gradients, predicted.gradients, name, allowed) for name in names)

    def _make_room(self, kept: dict[tuple[Made, str], Said]) -> None:
        """Let go of the answers of sets, which are many, when too much is kept."""
        if len(kept) > _MOST_KEPT:
            for made, key in [one for one in kept if len(one[0]) > 1]:
                del kept[made, key]

    def _ask(self, made: Made, key: str, *, with_gradients: bool) -> Said:
        return self._answers.said(made, self.questions[key], self._trees[key], with_gradients=with_gradients)


def _same_gradient(
    observed: Mapping[str, np.ndarray], predicted: Mapping[str, np.ndarray], name: str, allowed: float
) -> bool:
    """Whether a gradient is the same; one that is missing counts as zero."""
    one, other = observed.get(name), predicted.get(name)
    if one is None or other is None:
        there = one if other is None else other
        return there is None or same_numbers(there, np.zeros_like(there), allowed)
    return same_numbers(one, other, allowed)


def _tree(observation: Observation, is_broadcast: bool) -> Node | None:
    """What a right answer looks like; None where it is no value, and where it is one mask that stands for no other."""
    reply = observation.outcome.reply
    if not isinstance(reply, Returned) or (reply.tree.dtype == "bool" and not is_broadcast):
        return None
    return reply.tree
