"""Whether the axes that an assignment names are those of its calls: messages, examples and shapes rest on them."""

from collections.abc import Iterator

from grader.grade import Grading
from grader.oracle import OracleError
from grader.question import Question
from grader.resize import contradictions
from grader.verification.claims import Claim


def about_axes(grading: Grading) -> Claim:
    """That in every call an axis has one length, and no tensor more axes than are named."""
    questions = [question for batch in grading.batches for question in batch.questions]
    found = {question.key: list(_complaints(grading, question)) for question in questions}
    return Claim(
        title="the axes of assignment.toml fit every call",
        tried=len(questions),
        held=len(questions) - sum(map(bool, found.values())),
        complaints=tuple(dict.fromkeys(complaint for one in found.values() for complaint in one)),
        is_optional=True,
    )


def _complaints(grading: Grading, question: Question) -> Iterator[str]:
    call = question.call
    about = grading.assignment.callable(call.part, call.name)
    try:
        values = grading.key.oracle.expected(call).values
    except OracleError:  # a call that must raise may contradict itself: that is what it is for
        return
    for complaint in contradictions(call, about, {name: tuple(value.shape) for name, value in values.items()}):
        yield f"{call.name}: {complaint}"
