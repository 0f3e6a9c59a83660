"""The reference in the place of a student: right in every claim, and asked as a student is."""

import pytest
import torch
from sample_course import examination_of, own_reference, write_course

from grader.call import Call, Payload
from grader.checks import Student
from grader.examination import Examination
from grader.given import Given, Inputs
from grader.oracle import Oracle
from grader.outcome import Gradients, Raised, Returned
from grader.sources import Sources
from grader.trusted import TrustedRespondent

GIVEN = Given(7, "test")
QUERY, KEY = GIVEN.normal("query", 2, 3), GIVEN.normal("key", 2, 3)


@pytest.fixture
def examination(tmp_path):
    """The tiny assignment put to its own reference."""
    with own_reference():
        course = write_course(tmp_path)
        assignment, inputs = course.assignment("tiny"), Inputs(7)
        oracle = Oracle(course.reference, assignment, inputs)
        sources = Sources(texts=dict.fromkeys(assignment.files, ""))
        yield Examination(assignment, inputs, oracle, TrustedRespondent(oracle), sources)


def mix(**fields):
    """The call mix(query, key)."""
    values = {
        "part": "mix",
        "name": "mix",
        "arguments": ({"tensor": "query"}, {"tensor": "key"}),
        "payload": Payload({"query": QUERY, "key": KEY}, {}),
        "wants": ("query", "key"),
    }
    return Call(**(values | fields))


def test_trusted_reference_passes_every_claim(examination):
    """What a check finds wrong with it is wrong with the check."""
    function = Student(examination, "mix", "mix")(QUERY, KEY, gradients=True)
    module = Student(examination, "scale", "Scale").build(given=GIVEN, size=3)

    function.has_form()
    function.matches()
    function.matches("output", source="library")
    function.gradients_match()
    function.leaves_inputs_unchanged()
    function.is_repeatable()
    module(QUERY, gradients=True).gradients_match("query", "parameters")
    module.has_its_parameters(QUERY)
    Student(examination, "mix", "gate")(3).matches_mask(3, 3)
    Student(examination, "mix", "gate").raises(ValueError, -1, when="for a negative length")
    Student(examination, "scale", "Scale").build_raises(ValueError, size=0, when="for size 0")


def test_trusted_outcome_is_a_reply_as_a_worker_gives_it(examination):
    """Described, checked, and with gradients when an upstream gradient is given."""
    respondent = TrustedRespondent(examination.oracle)
    upstream = torch.ones(2, 3, dtype=torch.float64)

    outcome = respondent.ask(mix(), upstream)

    assert isinstance(outcome.reply, Returned)
    assert isinstance(outcome.backward, Gradients)
    assert torch.equal(KEY, outcome.gradients["arg.query"])


def test_trusted_call_without_an_upstream_gradient_has_no_backward_pass(examination):
    """As with a student."""
    outcome = TrustedRespondent(examination.oracle).ask(mix(), None)

    assert (None, {}) == (outcome.backward, dict(outcome.gradients))


def test_trusted_exception_of_the_reference_is_an_outcome(examination):
    """An error that the task asks for is raised by the reference too."""
    call = mix(name="gate", arguments=(-1,), payload=Payload({}, {}), wants=())

    outcome = TrustedRespondent(examination.oracle).ask(call, torch.ones(1))

    assert isinstance(outcome.reply, Raised)
    assert ("ValueError", None) == (outcome.reply.type, outcome.backward)


def test_trusted_examination_of_another_respondent_is_not_the_reference(tmp_path):
    """The same questions, put to nobody's code, are not answered by the reference."""
    with own_reference():
        examination = examination_of(write_course(tmp_path))

        assert "missing_name" == examination.ask(mix(), None).reply.status
