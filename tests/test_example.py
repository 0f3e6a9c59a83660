"""The record of a failing call: numbers as text, and when there is none."""

import math

import pytest
import torch
from sample_course import Pupil, examination_of, own_reference, write_course

from grader.call import Call, Payload
from grader.example import MOST_CELLS, example_of
from grader.remark import number_text
from grader.simpler import Trial
from grader.symptom import Found, Symptom


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The tiny course."""
    with own_reference():
        yield write_course(tmp_path_factory.mktemp("course"))


def example(course, mix, *shape):
    """The record of `mix` of ones, said to be wrong in its output, whether it is or not."""
    examination = examination_of(course, Pupil({"mix": mix}))
    ones = torch.ones(shape, dtype=torch.float64)
    call = Call(
        part="mix",
        name="mix",
        arguments=({"tensor": "query"}, {"tensor": "key"}, None),
        payload=Payload({"query": ones, "key": ones}, {}),
    )
    outcome = examination.ask(call, None)
    symptom = Symptom(kind="value", names=("output",), difference=1.0)
    right = examination.oracle.answer(call)
    return example_of(examination, Found(trial=Trial(call=call), right=right, outcome=outcome, symptom=symptom))


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (2.0, "2"),
        (-1.0, "-1"),
        (0.0, "0"),
        (-0.0, "0"),
        (1 / 3, "0.3333"),
        (2.5, "2.5"),
        (100.0, "100"),
        (-14 / 3, "-4.6667"),
        (1.99996, "2"),
        (0.00012345678, "0.0001235"),
        (3e-320, "0"),
        (1e12, "1e+12"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
    ],
)
def test_example_number_is_as_short_as_it_can_be(number, text):
    """Whole numbers bare, others with four decimals at most."""
    assert text == number_text(number)


def test_example_holds_what_went_in_and_both_answers(course):
    """In the order of the task; an argument that is None is not there."""
    found = example(course, lambda query, key, mask: (query * 3, query + key), 1, 2)

    assert ("mix", "mix", "mix(query, key, None)") == (found.part, found.callable, found.call)
    assert [("query", ("1", "1")), ("key", ("1", "1"))] == [(one.name, one.cells) for one in found.inputs]
    assert [("output", ("1", "1")), ("weights", ("2", "2"))] == [(one.name, one.cells) for one in found.expected]
    assert [("output", ("3", "3")), ("weights", ("2", "2"))] == [(one.name, one.cells) for one in found.observed]
    assert ("row", "column") == found.observed[0].axes
    assert "The weights are right. The output is wrong." == found.remark


def test_example_of_answers_that_look_alike_is_none(course):
    """Equal numbers side by side would puzzle everybody."""
    assert example(course, lambda query, key, mask: (query * key + 1e-6, query + key), 1, 2) is None


def test_example_that_is_too_large_is_none(course):
    """Nobody looks through more by hand."""
    assert example(course, lambda query, key, mask: (query * 3, query + key), 1, MOST_CELLS) is not None
    assert example(course, lambda query, key, mask: (query * 3, query + key), 1, MOST_CELLS + 1) is None
