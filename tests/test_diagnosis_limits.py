"""What is asked of a submission to diagnose it, and of what nothing is said: code that hangs, dies or lies."""

from dataclasses import replace

import pytest
import torch
from sample_course import Pupil, own_reference, raised, write_course

from grader.assignment import Limits
from grader.diagnosis.diagnose import LONGEST_S
from grader.diagnosis.said import MOST_ELEMENTS, Kind, said
from grader.diagnosis.traits import GRADIENT_LOST
from grader.grade import with_grading
from grader.outcome import Died, Garbled, Node, Outcome, Returned, TimedOut
from grader.pool import examiner_limit_s

#: The second call of the first check is not come to when the answer to its first is wrong.
CHECKS = """\
from grader.checks import Checks

mix = Checks("mix")


@mix.check(points=3)
def test_output(student, given):
    \"\"\"The output and the gradients are right.\"\"\"
    student(given.normal("query", 2, 3), given.normal("key", 2, 3), gradients=True).matches("output")
    student(given.normal("query", 2, 5), given.normal("key", 2, 5), gradients=True).gradients_match("query", "key")


@mix.check(points=1)
def test_long(student, given):
    \"\"\"The output is right, longer.\"\"\"
    student(given.normal("query", 7, 3), given.normal("key", 7, 3), gradients=True).matches("output")
"""
MISTAKES = """
[[mistake]]
id = "adds-instead"
title = "Adds"
explanation = "It adds."
hint = "Which operator?"
price = 2
edits = [{ file = "tiny.py", old = "query * key, query", new = "query + key, query" }]
"""
#: What a call, or its backward pass, that came to nothing is reported as.
SILENT = {
    "timed out": TimedOut(stage="backward", limit_s=2.0),
    "died": Died(stage="backward", exit_code=0),
    "garbled": Garbled(stage="backward", detail="odd"),
    "out of memory": raised(stage="backward", type="MemoryError", bases=("MemoryError", "Exception")),
}


class Odd(Pupil):
    """A pupil of whom something else is heard than was said; `heard` makes it of a call of `mix` and its outcome."""

    def __init__(self, mix, heard):
        super().__init__({"mix": mix})
        self._heard = heard

    def ask(self, call, upstream):
        """The outcome, as it is heard."""
        outcome = super().ask(call, upstream)
        return self._heard(call, outcome) if call.name == "mix" else outcome


@pytest.fixture
def course(tmp_path):
    """The tiny course with one known mistake, and two checks of `mix`."""
    course = write_course(tmp_path)
    (tmp_path / "assignments/tiny/checks/test_mix.py").write_text(CHECKS, encoding="utf-8")
    (tmp_path / "reference/mistakes").mkdir()
    (tmp_path / "reference/mistakes/tiny.toml").write_text(MISTAKES, encoding="utf-8")
    with own_reference():
        yield course


def explained(course, pupil):
    """What explains the answers about `mix`; None when nothing is said of them."""
    found = with_grading(course, course.assignment("tiny"), 1, lambda grading: grading.try_out(pupil)[1])
    return next((one for one in found if one.callable == "mix"), None)


def shapes_asked(pupil):
    """Shapes of the queries that `mix` was given."""
    return {tuple(call.payload.arguments["query"].shape) for call in pupil.asked if call.name == "mix"}


def is_long(call):
    """Whether it is the call of the second check."""
    return call.payload.arguments["query"].shape[0] == 7


def right(query, key, mask=None):
    """As the reference."""
    return query * key, query + key


def adding(query, key, mask=None):
    """The known mistake."""
    return query + key, query + key


def test_diagnose_question_that_a_check_did_not_come_to_is_put(course):
    """All that the reference was asked is known of the student, too, and the mistake has its name."""
    pupil = Odd(adding, lambda call, outcome: outcome)

    found = explained(course, pupil)

    assert (("adds-instead",),) == found.mistakes
    assert {(2, 3), (2, 5), (7, 3)} == shapes_asked(pupil)


@pytest.mark.parametrize("silence", SILENT.values(), ids=SILENT)
def test_diagnose_call_without_an_answer_is_not_explained_and_asks_nothing_more(course, silence):
    """What hung once may hang again; its verdict says all there is to say."""
    pupil = Odd(adding, lambda call, outcome: Outcome(reply=silence) if is_long(call) else outcome)

    assert explained(course, pupil) is None
    assert {(2, 3), (7, 3)} == shapes_asked(pupil)


@pytest.mark.parametrize("silence", SILENT.values(), ids=SILENT)
def test_diagnose_backward_pass_without_an_answer_is_no_lost_gradient(course, silence):
    """That nothing came back is not that nothing was there, which has a price of its own."""
    pupil = Odd(
        right, lambda call, outcome: replace(outcome, backward=silence, gradients={}) if outcome.backward else outcome
    )

    assert explained(course, pupil) is None


def test_diagnose_backward_pass_that_raises_is_a_lost_gradient(course):
    """Right values, from which autograd finds no way back."""
    stopped = raised(stage="backward")
    pupil = Odd(
        right, lambda call, outcome: replace(outcome, backward=stopped, gradients={}) if outcome.backward else outcome
    )

    found = explained(course, pupil)

    assert ((GRADIENT_LOST,), True) == (found.traits, found.is_whole)


@pytest.mark.parametrize(("count", "kind"), [(MOST_ELEMENTS, Kind.VALUES), (MOST_ELEMENTS + 1, Kind.OTHER)])
def test_said_answer_too_large_to_be_right_is_not_compared(count, kind):
    """Sixty answers of millions of numbers would be looked at together."""
    tree = Node(kind="tensor", type="Tensor", shape=(count,), dtype="bool", data="0")
    outcome = Outcome(
        reply=Returned(status="returned", tree=tree, changed=()), tensors={"0": torch.ones(count, dtype=torch.bool)}
    )

    assert kind is said(outcome, None).kind


def test_pool_examiner_may_take_as_long_as_explaining_takes(course):
    """Five times that, as of all it waits for; where no mistake is known there is nothing to take long."""
    limits = Limits()

    def longest():
        return with_grading(course, course.assignment("tiny"), 1, lambda grading: grading.diagnostics.longest_s)

    with_mistakes = longest()
    (course.folder / "reference/mistakes/tiny.toml").unlink()

    assert (LONGEST_S, 0.0) == (with_mistakes, longest())
    assert examiner_limit_s(limits, explaining_s=LONGEST_S) == examiner_limit_s(limits) + 5 * LONGEST_S
