"""Answers of the reference with mistakes made in it, computed when they are asked for. Where the course is."""

from collections.abc import Collection, Mapping
from types import ModuleType

from grader.diagnosis.edited import Edited
from grader.diagnosis.predict import NOTHING, Made
from grader.diagnosis.said import Said, said
from grader.outcome import Node
from grader.question import Question
from grader.traced import Failure, failure_of
from grader.trusted import is_of_reference, respond, traced
from grader.worker.answer import Answerer


class ComputedAnswers:
    """What one callable of the reference answers. `target`: its module, and its name there."""

    rounding = 0.0
    is_for_sets = True

    def __init__(self, edited: Edited, target: tuple[str, str]) -> None:
        self._edited = edited
        self._target = target
        self.candidates = edited.mistakes_of(*target)
        self.variations = edited.variations_of(*target)
        self._modules: tuple[Made, Mapping[str, ModuleType]] = NOTHING, edited.modules()

    def are_compatible(self, made: Collection[str]) -> bool:
        """Whether the mistakes can be made together."""
        return self._edited.are_compatible(made)

    def said(self, made: Made, question: Question, right: Node | None, *, with_gradients: bool) -> Said:
        """The answer to a question. `right`: see `said.said`."""
        if made != self._modules[0]:
            self._modules = made, self._edited.modules(made)
        upstream = question.upstream if with_gradients else None
        outcome = respond(_answerer_of(self._modules[1]), self._target, question.call, upstream, question.history)
        return said(outcome, question.call, right)

    def failure(self, made: Made, question: Question) -> Failure | None:
        """What the call fails of; None where that is not certain."""
        answerer = _answerer_of(self._edited.modules(made, is_readable=True))
        return failure_of(traced(answerer, self._target, question.call, question.upstream))


def _answerer_of(modules: Mapping[str, ModuleType]) -> Answerer:
    return Answerer(modules.__getitem__, is_own=is_of_reference)
