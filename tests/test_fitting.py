"""Asking a module whose parts the student named."""

import pytest
import torch
from sample_course import Pupil, examination_of, own_reference, write_course
from torch import nn

from grader.checks import Student
from grader.failure import CheckFailed
from grader.given import Given
from grader.verdict import Verdict

GIVEN = Given(7, "test")
QUERY = GIVEN.normal("query", 2, 3)
CALLABLE = """
[parts.callables.Scale]
kind = "module"
arguments = ["query"]
returns = ["output"]
keeps = ["inside"]
parameters = "by structure"
axes = { output = ["row", "column"], query = ["row", "column"], inside = ["row", "column"] }
reference = "tiny:Scale"
"""
REFERENCE = """
from torch import nn


class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.first = nn.Linear(size, size)
        self.second = nn.Linear(size, size)

    def forward(self, query):
        self.inside = self.first(query).relu()
        return self.second(self.inside)
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course whose module has two layers of one shape, and keeps a value."""
    folder = tmp_path_factory.mktemp("course")
    with own_reference():
        course = write_course(folder)
        stated = folder / "assignments/tiny/assignment.toml"
        head, _, _ = stated.read_text().partition("[parts.callables.Scale]")
        stated.write_text(head + CALLABLE)
        with (course.reference / "tiny.py").open("a") as file:
            file.write(REFERENCE)
        yield course


@pytest.fixture
def build(course):
    """A student's module, built with drawn parameters."""

    def make(cls):
        pupil = Pupil({"Scale": cls})
        return Student(examination_of(course, pupil), "scale", "Scale").build(given=GIVEN, size=3)

    return make


class Plain(nn.Module):
    """Right, in other names."""

    def __init__(self, size):
        super().__init__()
        self.out = nn.Linear(size, size)
        self.into = nn.Linear(size, size)

    def forward(self, query):
        self.inside = torch.relu(self.into(query))
        return self.out(self.inside)


class Forgets(Plain):
    """Keeps nothing."""

    def forward(self, query):
        return self.out(torch.relu(self.into(query)))


class Wrong(Plain):
    """Leaves the relu out, so that no way to read it is right."""

    def forward(self, query):
        self.inside = self.into(query)
        return self.out(self.inside)


class OneLayer(Plain):
    """Has one layer for two."""

    def __init__(self, size):
        super().__init__(size)
        self.out = self.into


def failure(claim):
    """How a claim fails."""
    with pytest.raises(CheckFailed) as caught:
        claim()
    return caught.value


def test_fitting_layers_of_one_shape_are_read_in_the_way_that_is_right(build):
    """The second layer comes first in this module; its answers tell."""
    answer = build(Plain)(QUERY, gradients=True)

    answer.matches("output", "inside")
    answer.gradients_match("query", "parameters")


def test_fitting_of_a_wrong_module_says_what_is_wrong(build):
    """Its layers are read in some way, and its values differ."""
    failed = failure(lambda: build(Wrong)(QUERY).matches("output"))

    assert Verdict.WRONG_VALUE is failed.verdict


def test_fitting_of_other_layers_counts_what_there_is_and_what_is_wanted(build):
    """Names say nothing here."""
    failed = failure(lambda: build(OneLayer)(QUERY).matches("output"))

    assert Verdict.WRONG_PARAMETERS is failed.verdict
    assert "1 of [3, 3], 1 of [3]" in str(failed)
    assert "2 of [3, 3], 2 of [3]" in str(failed)


def test_fitting_keeps_the_way_for_later_calls(build):
    """One that alone was right is not looked for again: what an input of zeros leaves open is known."""
    module = build(Plain)
    module(QUERY).matches()

    module(torch.full((2, 3), -5.0).double(), gradients=True).gradients_match("parameters")


def test_kept_value_that_is_not_there_says_where_it_was_looked_for(build):
    """A module that only returns its output."""
    failed = failure(lambda: build(Forgets)(QUERY).matches("inside"))

    assert Verdict.WRONG_TYPE is failed.verdict
    assert "self.inside" in str(failed)


def test_kept_value_that_is_missing_leaves_the_output_right(build):
    """One mistake, one price."""
    answer = build(Forgets)(QUERY)

    answer.has_form()
    answer.matches()


def test_initial_parameters_are_those_of_a_new_module(build):
    """Not those that a check has set."""
    module = build(Plain)
    module(QUERY).matches()

    initial = module.initial()

    assert ["first.weight", "first.bias", "second.weight", "second.bias"] == list(initial)
    assert initial["first.weight"].abs().max() <= 3**-0.5


def test_fitting_stops_trying_when_it_has_taken_long(course):
    """Wrong code is right in no way; its time is for its other checks."""
    calls = []

    class Slow(Wrong):
        def forward(self, query):
            calls.append(query)
            pupil.used_s += 3.0
            return super().forward(query)

    pupil = Pupil({"Scale": Slow})
    module = Student(examination_of(course, pupil), "scale", "Scale").build(given=GIVEN, size=3)

    module(QUERY)
    module(QUERY * 2)

    assert 2 == len(calls)
