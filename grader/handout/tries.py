"""Each known mistake, made in the reference and asked what the visible checks ask: what it changes, and a small call.

Trusted code in forks of this process, on all processors: a few hundred mistakes take a minute of theirs.
"""

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from grader.call import Call
from grader.diagnosis.diagnose import Diagnostics
from grader.diagnosis.predict import Made, Predictions
from grader.diagnosis.said import Kind, Said
from grader.examination import Examination
from grader.example import example_of
from grader.grade import Grading
from grader.oracle import Expected
from grader.question import Question
from grader.shrink import smallest_failure
from grader.sources import Sources
from grader.symptom import Refused
from grader.traced import Failure
from grader.trusted import TrustedRespondent
from grader.verification.forked import shared_out

#: Called with how many of how many tries are done.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """An answer that is another with a mistake."""

    #: Key of the question.
    question: str
    said: Said
    #: What the call fails of, where it does and that is certain.
    failure: Failure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallCall:
    """A small call in which a mistake shows, and what is right there: an answer, or the name of an error."""

    call: Call
    right: Expected | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """A mistake, as a callable shows it."""

    part: str
    callable: str
    mistake: str
    changed: tuple[Changed, ...]
    example: SmallCall | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    part: str
    callable: str
    mistake: str


def tried_out(grading: Grading, diagnostics: Diagnostics, progress: Progress) -> Iterator[Showing]:
    """What mistakes do to callables, in the assignment's order and the book's; those that no answer shows are left out.

    Raises:
        ForkFailed: a fork of this process ended.
    """
    jobs = [
        _Job(part=part.name, callable=name, mistake=mistake)
        for part in grading.assignment.parts
        for name in part.callables
        for mistake in diagnostics.predictions(part.name, name).candidates
    ]

    def work(job: _Job) -> bytes:
        # As bytes: a tensor by itself is sent as shared memory, which ends with the fork that made it.
        return pickle.dumps(_showing(grading, diagnostics.predictions(job.part, job.callable), job.mistake))

    for number, sent in enumerate(shared_out(jobs, work, os.cpu_count() or 1), 1):
        progress(number, len(jobs))
        showing: Showing | None = pickle.loads(sent)
        if showing is not None:
            yield showing


def _showing(grading: Grading, predictions: Predictions, mistake: str) -> Showing | None:
    made = frozenset((mistake,))
    changed = [key for key in predictions.questions if not predictions.agrees(predictions.right[key], made, key)]
    if not changed:
        return None
    return Showing(
        part=predictions.part,
        callable=predictions.name,
        mistake=mistake,
        changed=tuple(_changed(predictions, made, key) for key in changed),
        example=_example(grading, made, [predictions.questions[key] for key in changed]),
    )


def _changed(predictions: Predictions, made: Made, key: str) -> Changed:
    said = predictions.whole(made, key)
    is_failure = said.kind is Kind.RAISED or said.is_backward_raised or bool(np.isnan(said.numbers).any())
    is_told_by_failing = is_failure and not predictions.questions[key].history  # numbers do not tell what went wrong
    return Changed(question=key, said=said, failure=predictions.failure(made, key) if is_told_by_failing else None)


def _example(grading: Grading, made: Made, questions: Sequence[Question]) -> SmallCall | None:
    """The smallest call found from the smallest of these questions on."""
    calls = [one.call for one in questions if not one.history]
    starts = [call for call in calls if call.dtype == "float64" and not call.is_random]
    if not starts:
        return None
    reference = grading.reference
    respondent = TrustedRespondent(reference.oracle, lambda: reference.edited.modules(made))
    files = Sources(texts=dict.fromkeys(grading.assignment.files, ""))
    examination = Examination(grading.assignment, grading.inputs, reference.oracle, respondent, files)
    found = smallest_failure(examination, min(starts, key=_size))
    if found is None or example_of(examination, found) is None:
        return None
    # Confirmed with another seed; whoever asks begins with the usual one. A plain dictionary can be sent home.
    call = replace(found.trial.call, seed=0, keywords=dict(found.trial.call.keywords))
    right = found.right
    return SmallCall(call=call, right=right.error if isinstance(right, Refused) else right)


def _size(call: Call) -> int:
    return sum(tensor.numel() for tensor in call.payload.tensors.values())
