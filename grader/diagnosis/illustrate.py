"""What a report shows of a failing callable beside words: a small example, the shapes on the way, the line at fault.

Everything here starts from calls of visible checks and is asked of the student's code anew, with inputs of its own.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch

from grader.call import Call
from grader.diagnosis.explanation import Explanation
from grader.diagnosis.predict import NOTHING, Predictions
from grader.diagnosis.said import Kind
from grader.diagnosis.traits import GRADIENT_LOST
from grader.examination import Examination
from grader.finding import Example, Shapes
from grader.oracle import OracleError
from grader.outcome import Gradients, Outcome
from grader.question import Observation
from grader.shapes import shapes_on_the_way, to_trace
from grader.shrink import smallest_example
from grader.symptom import symptom_of
from grader.traced import Traced, gradient_cut
from grader.unanswered import asked

#: Seconds of a student's own time in which a submission is illustrated. Several times what it needs where the machine
#: is busy, since part of that counts as the student's: only code that is slow may be left without.
SECONDS = 3.0
#: Failing calls of a callable that an example is tried to be made of.
_MOST_STARTS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Illustrated:
    """Explanations with what shows them, and what a report shows besides."""

    explained: tuple[Explanation, ...]
    examples: tuple[Example, ...] = ()
    shapes: tuple[Shapes, ...] = ()


class Illustrator:
    """Makes illustrations for one submission, while its worker can be asked."""

    def __init__(
        self, examination: Examination, examples_of: Callable[[Explanation], Iterable[Call]] = lambda explanation: ()
    ) -> None:
        """`examples_of`: small calls that may show what was explained; tried before those of the checks."""
        self._examination = examination
        self._examples_of = examples_of
        self._limit_s = examination.used_s + SECONDS

    def illustrate(self, explained: Iterable[tuple[Explanation, Predictions]]) -> Illustrated:
        """Illustrate what was explained, or was not, callable by callable; what is met again only once."""
        told, examples, shapes = [], [], []
        illustrated: set[str] = set()
        for explanation, predictions in explained:
            failing = list(self._failing(predictions))
            told.append(self._with_line(explanation, failing))
            names = {slot[0] for slot in explanation.mistakes} | {trait.id for trait in explanation.traits}
            if explanation.is_whole and names <= illustrated:
                continue
            way = self._shapes(failing)
            if way:
                shapes.append(way)
            example = self._example(failing, self._examples_of(explanation))
            if example:
                examples.append(example)
                illustrated |= names
        return Illustrated(explained=tuple(told), examples=tuple(examples), shapes=tuple(shapes))

    def _failing(self, predictions: Predictions) -> Iterator[Observation]:
        """Wrong answers to visible checks: values first, the smallest call first, errors that did not come last."""
        wrong = []
        for key, observation in self._examination.observations.items():
            question = observation.question
            if key not in predictions.questions or not question.is_visible or question.call.dtype == "float32":
                continue
            if question.call.is_random:  # where luck decides, no numbers are the right ones
                continue
            said = predictions.read(observation)
            if said.kind is not Kind.OTHER and not predictions.agrees(said, NOTHING, key, observation.dtype):
                size = sum(tensor.numel() for tensor in question.call.payload.tensors.values())
                is_due = predictions.right[key].kind is Kind.RAISED
                wrong.append((is_due, said.kind is not Kind.VALUES, size, key, observation))
        return (observation for *_, observation in sorted(wrong, key=lambda one: one[:4]))

    def _example(self, failing: Sequence[Observation], prepared: Iterable[Call]) -> Example | None:
        starts = [one.question.call for one in failing[:_MOST_STARTS]]
        for call in (*prepared, *starts) if failing else ():
            left_s = self._limit_s - self._examination.used_s
            found = smallest_example(self._examination, call, allowed_s=left_s)
            if found:
                return found
        return None

    @property
    def _is_late(self) -> bool:
        return self._examination.used_s >= self._limit_s

    # --- shapes on the way ----------------------------------------------------------------------------------------

    def _shapes(self, failing: Iterable[Observation]) -> Shapes | None:
        """The way through a failing call, with lengths that tell the axes apart if it fails with these too."""
        start = next(iter(failing), None)
        if start is None:
            return None
        call = start.question.call
        about = self._examination.assignment.callable(call.part, call.name)
        if not about.way:
            return None
        apart = self._with_lengths_apart(call)
        for one in (apart, call) if apart else (call,):
            traced = self._trace(one, None)
            if traced:
                return shapes_on_the_way(traced, one, about, asked(self._examination, one).text)
        return None

    def _with_lengths_apart(self, call: Call) -> Call | None:
        """The same call with other lengths, when it goes wrong with these too."""
        if self._is_late:
            return None
        examination = self._examination
        about = examination.assignment.callable(call.part, call.name)

        def draw(name: str, shape: tuple[int, ...], old: torch.Tensor) -> torch.Tensor:
            return examination.inputs.scope(f"{call.part}/shapes").vectors(name, *shape)

        def parameters(arguments: Mapping[str, object]) -> Mapping[str, tuple[int, ...]]:
            return examination.oracle.parameter_shapes(call.part, call.name, arguments)

        try:
            apart = to_trace(call, about, draw, parameters, handle=examination.new_handle())
            if apart is None:
                return None
            apart = replace(apart, wants=())
            right = examination.oracle.answer(apart)
        except OracleError:
            return None
        outcome = examination.ask(apart, None)
        return apart if symptom_of(examination.assignment, apart, outcome, right) else None

    # --- lines ----------------------------------------------------------------------------------------------------

    def _with_line(self, explanation: Explanation, failing: Iterable[Observation]) -> Explanation:
        """An explanation of gradients that do not arrive, with the line where they are cut off, where torch tells."""
        lost = next((one for one in failing if _has_lost_gradients(one.outcome)), None)
        if lost is None or not explanation.is_whole:
            return explanation
        traced = self._trace(lost.question.call, lost.question.upstream)
        line = _line_at_fault(traced) if traced else ""
        if not line:
            return explanation
        traits = [trait.id for trait in explanation.traits if trait is GRADIENT_LOST]
        names = traits or [slot[0] for slot in explanation.mistakes]
        return replace(explanation, evidence={**dict.fromkeys(names[:1], line), **explanation.evidence})

    def _trace(self, call: Call, upstream: torch.Tensor | None) -> Traced | None:
        if self._is_late:
            return None
        build = call.build and replace(call.build, handle=self._examination.new_handle())
        return self._examination.trace(replace(call, build=build), upstream)


def _has_lost_gradients(outcome: Outcome) -> bool:
    backward = outcome.backward
    return backward is not None and (not isinstance(backward, Gradients) or bool(backward.missing))


def _line_at_fault(traced: Traced) -> str:
    """Where the gradient ends, in words; empty where that is not certain."""
    if traced.blamed:
        line = traced.blamed
        return f"The backward pass stops at what {line.file}, line {line.line} computed: {line.text.strip()}"
    cut = gradient_cut(traced)
    return f"The gradient ends in {cut[0]}, line {cut[1]}, at {cut[2]}" if cut else ""
