"""The student's side: an answer key that was written down elsewhere. It computes nothing, and knows one mistake a time.

What a record does not hold, nobody here can answer: `OracleError` says so, and whoever asked goes on without.
"""

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from grader.assignment import AssignmentError
from grader.batch import Batch
from grader.call import Call
from grader.diagnosis.explanation import Explanation
from grader.diagnosis.mistakes import Named
from grader.diagnosis.predict import Made
from grader.diagnosis.said import Kind, Said, said
from grader.given import Drawing, Inputs
from grader.grade import Grading, Result, with_key
from grader.handout.calls import to_call
from grader.handout.contents import (
    MistakeContents,
    RecordedExample,
    RightAnswer,
    RightContents,
    RightOutcome,
    Shown,
    WrongAnswer,
    read_mistakes_of,
    read_right,
)
from grader.handout.header import Handout, damaged
from grader.handout.tensors import ROUNDING, RoundedRow, Tensors
from grader.oracle import Expected, OracleError, shapes_key
from grader.outcome import Node, Outcome, read_backward, read_call
from grader.question import Question
from grader.traced import Failure
from grader.worker.wire import Frame

#: Handles of modules that examples build: no check has them.
_FIRST_HANDLE = 2_000_000_000
#: Examples tried where nothing is recognised: one of them may show what is wrong all the same.
_MOST_TRIED = 6


def drawn_of(contents: RightContents, tensors: Tensors) -> dict[str, dict[Drawing, torch.Tensor]]:
    """The inputs that checks draw, by scope."""
    drawn: dict[str, dict[Drawing, torch.Tensor]] = {}
    for one in contents.drawn:
        drawn.setdefault(one.scope, {})[one.way, one.name, one.shape] = tensors.get(one.tensor)
    return drawn


class RecordedOracle:
    """Right answers that were written down."""

    def __init__(self, contents: RightContents, tensors: Tensors) -> None:
        self._tensors = tensors
        self._answers = {(one.digest, one.source): one for one in contents.answers}
        self._shapes = contents.shapes
        self._known: dict[tuple[str, str], Expected] = {}
        #: Of examples: right answers, and the errors that are right, by the call's digest.
        self._examples: dict[str, Expected | str] = {}

    def expected(self, call: Call, source: str = "reference") -> Expected:
        """The answer to a check's question. Raises OracleError."""
        example = self._examples.get(call.digest)
        if source == "reference" and isinstance(example, Expected):
            return example
        key = (call.digest, source)
        if key not in self._known:
            if key not in self._answers:
                raise OracleError(f"nobody has written down what {call.name} answers to this call")
            self._known[key] = expected_of(self._answers[key], self._tensors)
        return self._known[key]

    def answer(self, call: Call, upstream_of: Callable[[torch.Tensor], torch.Tensor] | None = None) -> Expected:
        """The answer to an example, or to a check's question. Raises OracleError."""
        known = self._examples.get(call.digest)
        if known is None:
            return self.expected(call)
        if isinstance(known, str):
            raise OracleError(f"{call.name} raises {known} here", known)
        return known

    def parameter_shapes(self, part: str, name: str, arguments: Mapping[str, object]) -> dict[str, tuple[int, ...]]:
        """Names and shapes of a module's parameters. Raises OracleError."""
        key = shapes_key(part, name, arguments)
        if key not in self._shapes:
            raise OracleError(f"nobody has written down the parameters of {name} built with {dict(arguments)}")
        return self._shapes[key]

    def learn(self, call: Call, right: Expected | str) -> None:
        """What is right for an example: an answer, or the name of an error."""
        self._examples[call.digest] = right


def expected_of(record: RightAnswer, tensors: Tensors) -> Expected:
    """A right answer, read."""
    return Expected(
        values=tensors.get_all(record.values),
        gradients=tensors.get_all(record.gradients),
        upstream=None if record.upstream is None else tensors.get(record.upstream),
        plain=_frozen(record.plain),
    )


class RecordedRespondent:
    """Answers the checks' questions as the reference did."""

    used_s = 0.0

    def __init__(self, contents: RightContents, tensors: Tensors) -> None:
        self._tensors = tensors
        self._outcomes = {one.digest: one for one in contents.outcomes}

    def ask(self, call: Call, upstream: torch.Tensor | None) -> Outcome:
        """The outcome of a call. Raises OracleError."""
        if call.digest not in self._outcomes:
            raise OracleError(f"nobody has written down what {call.name} answers to this call")
        record = self._outcomes[call.digest]
        outcome = self._forward(record)
        if upstream is None or record.backward is None:
            return outcome
        gradients = self._tensors.get_all(record.gradients)
        return replace(outcome, backward=read_backward(Frame(record.backward, gradients)), gradients=gradients)

    def _forward(self, record: RightOutcome) -> Outcome:
        tensors = self._tensors.get_all(record.tensors)
        return Outcome(reply=read_call(Frame(record.reply, tensors)), tensors=tensors)

    def ask_all(self, batch: Batch) -> None:
        """Nothing is saved by looking many things up at once."""

    def trace(self, call: Call, upstream: torch.Tensor | None) -> None:
        """Nothing was computed."""

    def begin_anew(self) -> None:
        """Nothing is kept."""


class RecordedAnswers:
    """What one callable answers when a mistake is made. Answers that a mistake does not change are the right ones."""

    rounding = ROUNDING
    is_for_sets = False
    variations: tuple[str, ...] = ()

    def __init__(self, shown: Collection[Shown], row: RoundedRow, right: RecordedRespondent) -> None:
        self.candidates = tuple(one.mistake for one in shown)
        self._row = row
        self._right = right
        self._wrong = {(one.mistake, answer.question): answer for one in shown for answer in one.answers}

    def are_compatible(self, made: Collection[str]) -> bool:
        """Only one was made at a time."""
        return len(made) < 2

    def said(self, made: Made, question: Question, right: Node | None, *, with_gradients: bool) -> Said:
        """The answer to a question, rounded where a mistake changes it."""
        wrong = self._of(made, question)
        if wrong is None:
            upstream = question.upstream if with_gradients else None
            return said(self._right.ask(question.call, upstream), question.call, right)
        gradients = wrong.gradients if with_gradients else None
        return Said(
            kind=Kind(wrong.kind),
            form=_frozen(wrong.form),
            numbers=self._row.get(wrong.numbers),
            gradients=None if gradients is None else {name: self._row.get(one) for name, one in gradients.items()},
            is_backward_raised=wrong.is_backward_raised and with_gradients,
            changed=frozenset(wrong.changed),
            bases=wrong.bases,
            stage=wrong.stage,
        )

    def failure(self, made: Made, question: Question) -> Failure | None:
        """What the call fails of, where that was certain."""
        wrong = self._of(made, question)
        return _frozen(wrong.failure) if wrong and wrong.failure else None

    def _of(self, made: Made, question: Question) -> WrongAnswer | None:
        (mistake,) = made or ("",)
        return self._wrong.get((mistake, question.key))


def _frozen(value: Any) -> Any:
    """Lists of a JSON as the tuples they were."""
    if isinstance(value, dict):
        return {name: _frozen(one) for name, one in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


@dataclass(frozen=True, slots=True)
class _Book:
    """What is known of mistakes."""

    contents: MistakeContents
    row: RoundedRow
    exact: Tensors


class RecordedKey:
    """The answer key in a handout. What is known of mistakes is read when a check has failed."""

    def __init__(self, folder: Path, contents: RightContents, tensors: Tensors) -> None:
        self.oracle = RecordedOracle(contents, tensors)
        self._folder = folder
        self._respondent = RecordedRespondent(contents, tensors)
        self._handles = itertools.count(_FIRST_HANDLE)

    @cached_property
    def _book(self) -> _Book:
        return _Book(*read_mistakes_of(self._folder))

    @cached_property
    def named(self) -> Mapping[str, Named]:
        """What is said of the mistakes, by id. Raises HandoutError."""
        return {one.id: one for one in self._book.contents.mistakes}

    def respondent(self) -> RecordedRespondent:
        """Whoever looks answers up."""
        return self._respondent

    def answers_of(self, part: str, name: str) -> RecordedAnswers:
        """Those of a callable. Raises HandoutError."""
        return RecordedAnswers(list(self._shown(part, name)), self._book.row, self._respondent)

    def examples_of(self, explanation: Explanation) -> Iterator[Call]:
        """The examples of the mistakes that were recognised; where none was, some of the callable's."""
        shown = list(self._shown(explanation.part, explanation.callable))
        recognised = {one for slot in explanation.mistakes for one in slot}
        chosen = [one for one in shown if one.mistake in recognised]
        for one in (chosen if recognised else shown)[:_MOST_TRIED]:
            if one.example is not None:
                yield self._example(one.example)

    def _shown(self, part: str, name: str) -> Iterator[Shown]:
        return (one for one in self._book.contents.shown if (one.part, one.callable) == (part, name))

    def _example(self, example: RecordedExample) -> Call:
        call = to_call(example.call, self._book.exact, next(self._handles))
        answer = example.answer
        self.oracle.learn(call, expected_of(answer, self._book.exact) if answer else example.error)
        return call


def with_record(handout: Handout, body: Callable[[Grading], Result]) -> Result:
    """Call `body` with what checking one's own work needs, rehearsed from the record.

    Raises:
        HandoutError: the record is damaged, or is not one of these checks.
        ExamineError: the checks cannot be run.
    """
    contents, tensors = read_right(handout.folder)
    inputs = Inputs(handout.header.seed, drawn_of(contents, tensors))

    def key() -> RecordedKey:
        return RecordedKey(handout.folder, contents, tensors)

    try:
        return with_key(handout.assignment, inputs, key, body, are_all=False)
    except AssignmentError as error:
        raise damaged(handout.folder, str(error)) from None
