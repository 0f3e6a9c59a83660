"""The staff's side: what the visible checks ask with the published seed, what is right, what each mistake answers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from grader import __version__
from grader.answer_key import ReferenceKey
from grader.diagnosis.diagnose import Diagnostics
from grader.diagnosis.mistakes import Mistake, Named
from grader.diagnosis.predict import Made, Predictions
from grader.diagnosis.said import Kind, Numbers, Said
from grader.examination import Examination
from grader.example import example_of
from grader.grade import Grading
from grader.handout.calls import to_record
from grader.handout.contents import (
    Drawn,
    MistakeContents,
    RecordedExample,
    RightAnswer,
    RightContents,
    RightOutcome,
    Shown,
    WrongAnswer,
    write_mistakes,
    write_right,
)
from grader.handout.header import Header, write_header
from grader.handout.tensors import Rounded, RoundedRow, Tensors, largest_of
from grader.oracle import Expected
from grader.outcome import Outcome
from grader.outcome import Record as Reply
from grader.question import Question
from grader.report import FeedbackLevel
from grader.shrink import smallest_failure
from grader.sources import Sources
from grader.symptom import Refused
from grader.trusted import TrustedRespondent

#: Questions that an example of a mistake is tried to be made of.
_MOST_STARTS = 2
#: Called with how many of how many mistakes are done.
Progress = Callable[[int, int], None]


def write_record(folder: Path, grading: Grading, level: FeedbackLevel, progress: Progress) -> None:
    """Write the record of a grading that has rehearsed the visible checks with the published seed.

    `level`: how much a student is told; at `verdict`, nothing of mistakes is written.
    """
    diagnostics = grading.diagnostics
    assert diagnostics is not None, "only after the rehearsal"
    write_header(folder, _header(grading, level))
    tensors = Tensors()
    write_right(folder, _right(grading, diagnostics, tensors), tensors)
    if level is not FeedbackLevel.VERDICT:
        rounded, exact = RoundedRow(), Tensors()
        contents = _Mistakes(grading, diagnostics, rounded, exact).contents(level, progress)
        write_mistakes(folder, contents, rounded, exact)


# --- what is right ----------------------------------------------------------------------------------------------------


def _header(grading: Grading, level: FeedbackLevel) -> Header:
    assignment = grading.assignment
    return Header(
        version=__version__,
        name=assignment.name,
        assignment=assignment.model_dump(mode="json", exclude={"folder", "prices"}),
        digest=assignment.digest,
        level=level,
        seed=grading.inputs.seed,
    )


def _right(grading: Grading, diagnostics: Diagnostics, tensors: Tensors) -> RightContents:
    oracle = grading.reference.oracle
    return RightContents(
        drawn=tuple(_drawn(grading, tensors)),
        answers=tuple(_answer(call, source, right, tensors) for (call, source), right in oracle.known.items()),
        outcomes=tuple(_outcomes(diagnostics, grading.reference, tensors)),
        shapes={key: dict(shapes) for key, shapes in oracle.known_shapes.items()},
    )


def _drawn(grading: Grading, tensors: Tensors) -> Iterator[Drawn]:
    for scope, drawn in grading.inputs.drawn.items():
        if scope.endswith("/visible"):
            for (way, name, shape), tensor in drawn.items():
                yield Drawn(scope=scope, way=way, name=name, shape=shape, tensor=tensors.put(tensor))


def _answer(digest: str, source: str, expected: Expected, tensors: Tensors) -> RightAnswer:
    return RightAnswer(
        digest=digest,
        source=source,
        values=tensors.put_all(expected.values),
        gradients=tensors.put_all(expected.gradients),
        upstream=None if expected.upstream is None else tensors.put(expected.upstream),
    )


def _outcomes(diagnostics: Diagnostics, reference: ReferenceKey, tensors: Tensors) -> Iterator[RightOutcome]:
    """How the reference answers every question, and the calls that only come before one."""
    observed = {one.question.call.digest: one for one in diagnostics.rehearsed}
    for digest, observation in observed.items():
        yield _outcome(digest, observation.outcome, tensors)
    earlier = {call.digest: call for one in diagnostics.rehearsed for call in one.question.history}
    respondent = reference.respondent()
    for digest, call in earlier.items():
        if digest not in observed:
            yield _outcome(digest, respondent.ask(call, None), tensors)


def _outcome(digest: str, outcome: Outcome, tensors: Tensors) -> RightOutcome:
    reply, backward = outcome.reply, outcome.backward
    assert isinstance(reply, Reply) and (backward is None or isinstance(backward, Reply)), "trusted code does not hang"
    return RightOutcome(
        digest=digest,
        reply=reply.model_dump(mode="json"),
        tensors=tensors.put_all(outcome.tensors),
        backward=None if backward is None else backward.model_dump(mode="json"),
        gradients=tensors.put_all(outcome.gradients),
    )


# --- what mistakes answer ---------------------------------------------------------------------------------------------


class _Mistakes:
    """Makes each mistake, callable by callable, and writes down the answers that it changes."""

    def __init__(self, grading: Grading, diagnostics: Diagnostics, rounded: RoundedRow, exact: Tensors) -> None:
        self._grading = grading
        self._diagnostics = diagnostics
        self._rounded = rounded
        self._exact = exact

    def contents(self, level: FeedbackLevel, progress: Progress) -> MistakeContents:
        """Those that some answer shows, under ids that say nothing."""
        made = [
            (predictions, mistake)
            for part in self._grading.assignment.parts
            for name in part.callables
            for predictions in [self._diagnostics.predictions(part.name, name)]
            for mistake in predictions.candidates
        ]
        shown: list[Shown] = []
        for number, (predictions, mistake) in enumerate(made, 1):
            shown += self._shown(predictions, mistake)
            progress(number, len(made))
        there = {one.mistake for one in shown}
        known = [one for one in self._grading.reference.mistakes if one.id in there]
        names = {one.id: f"m{number}" for number, one in enumerate(known, 1)}
        return MistakeContents(
            mistakes=tuple(self._named(one, names[one.id], level) for one in known),
            shown=tuple(one.model_copy(update={"mistake": names[one.mistake]}) for one in shown),
        )

    def _named(self, mistake: Mistake, id: str, level: FeedbackLevel) -> Named:
        return Named(
            id=id,
            title=mistake.title,
            hint=mistake.hint,
            explanation=mistake.explanation if level is FeedbackLevel.FULL else "",
            price=self._grading.assignment.prices.get(mistake.id, mistake.price),
        )

    def _shown(self, predictions: Predictions, mistake: str) -> Iterator[Shown]:
        made = frozenset((mistake,))
        changed = [key for key in predictions.questions if not predictions.agrees(predictions.right[key], made, key)]
        if changed:
            yield Shown(
                part=predictions.part,
                callable=predictions.name,
                mistake=mistake,
                answers=tuple(self._answer(predictions, made, key) for key in changed),
                example=self._example(predictions, made, changed),
            )

    def _answer(self, predictions: Predictions, made: Made, key: str) -> WrongAnswer:
        said = predictions.whole(made, key)
        return WrongAnswer(
            question=key,
            kind=said.kind.value,
            form=said.form,
            numbers=self._rounded.put(said.numbers, largest_of(said.numbers)),
            gradients=None if said.gradients is None else self._gradients(said.gradients),
            is_backward_raised=said.is_backward_raised,
            changed=tuple(sorted(said.changed)),
            bases=said.bases,
            stage=said.stage,
            failure=predictions.failure(made, key) if _may_fail(said, predictions, key) else None,
        )

    def _gradients(self, gradients: Mapping[str, Numbers]) -> dict[str, Rounded]:
        largest = largest_of(*gradients.values())
        return {name: self._rounded.put(numbers, largest) for name, numbers in gradients.items()}

    def _example(self, predictions: Predictions, made: Made, changed: Sequence[str]) -> RecordedExample | None:
        """The smallest call in which the mistake shows, of those that the smallest questions lead to."""
        reference = self._grading.reference
        respondent = TrustedRespondent(reference.oracle, lambda: reference.edited.modules(made))
        files = Sources(texts=dict.fromkeys(self._grading.assignment.files, ""))
        examination = Examination(self._grading.assignment, self._grading.inputs, reference.oracle, respondent, files)
        starts = [predictions.questions[key].call for key in changed if _is_plain(predictions.questions[key])]
        starts.sort(key=lambda call: sum(tensor.numel() for tensor in call.payload.tensors.values()))
        for start in starts[:_MOST_STARTS]:
            found = smallest_failure(examination, start)
            if found is not None and example_of(examination, found) is not None:
                call = replace(found.trial.call, seed=0)
                right, call_record = found.right, to_record(call, self._exact)
                if isinstance(right, Refused):
                    return RecordedExample(call=call_record, answer=None, error=right.error)
                return RecordedExample(
                    call=call_record, answer=_answer(call.digest, "reference", right, self._exact), error=""
                )
        return None


def _may_fail(said: Said, predictions: Predictions, key: str) -> bool:
    """Whether numbers do not say what went wrong: it raised, or made NaN. Only of a call that has no history."""
    is_nan = bool(np.isnan(said.numbers).any())
    return not predictions.questions[key].history and (said.kind is Kind.RAISED or said.is_backward_raised or is_nan)


def _is_plain(question: Question) -> bool:
    """Whether a call like this one, put alone, is a question by itself."""
    return not question.history and question.call.dtype == "float64"
