"""The staff's side: what the visible checks ask with the published seed, what is right, what each mistake answers."""

from collections.abc import Iterator
from pathlib import Path

from grader import __version__
from grader.answer_key import ReferenceKey
from grader.diagnosis.diagnose import Diagnostics
from grader.grade import Grading
from grader.handout.contents import (
    Drawn,
    RightContents,
    RightOutcome,
    answer_of,
    write_mistakes,
    write_right,
)
from grader.handout.header import Header, write_header
from grader.handout.known import Known
from grader.handout.tensors import Tensors
from grader.handout.tries import Progress, tried_out
from grader.outcome import Outcome
from grader.outcome import Record as Reply
from grader.report import FeedbackLevel


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
        known = Known(grading, level)
        for shown in tried_out(grading, diagnostics, progress):
            known.add(shown)
        write_mistakes(folder, known.contents, known.rounded, known.exact)


# --- what is right ----------------------------------------------------------------------------------------------------


def _header(grading: Grading, level: FeedbackLevel) -> Header:
    assignment = grading.assignment
    return Header(
        version=__version__,
        assignment=assignment.model_dump(mode="json", exclude={"folder", "prices"}),
        digest=assignment.digest,
        level=level,
        seed=grading.inputs.seed,
    )


def _right(grading: Grading, diagnostics: Diagnostics, tensors: Tensors) -> RightContents:
    oracle = grading.reference.oracle
    return RightContents(
        drawn=tuple(_drawn(grading, tensors)),
        answers=tuple(answer_of(call, source, right, tensors) for (call, source), right in oracle.known.items()),
        outcomes=tuple(_outcomes(diagnostics, grading.reference, tensors)),
        shapes={key: dict(shapes) for key, shapes in oracle.known_shapes.items()},
    )


def _drawn(grading: Grading, tensors: Tensors) -> Iterator[Drawn]:
    for scope, drawn in grading.inputs.drawn.items():
        if scope.endswith("/visible"):
            for (way, name, shape), tensor in drawn.items():
                yield Drawn(scope=scope, way=way, name=name, shape=shape, tensor=tensors.put(tensor))


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
