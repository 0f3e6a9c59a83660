"""How far answers are from PyTorch's own: kept when a check passes, as when it fails, and told in words."""

import math

import pytest
import torch
from pydantic import ValidationError
from sample_course import Pupil, examination_of, own_reference, write_course
from sample_report import make_check

from grader.checks import Student
from grader.compare import measure
from grader.failure import CheckFailed
from grader.given import Given
from grader.measured import Measured
from grader.plugin import CheckResult
from grader.render.agreement import agreements, measured_texts, number
from grader.verdict import Verdict

GIVEN = Given(7, "test")
QUERY, KEY = GIVEN.normal("query", 2, 3), GIVEN.normal("key", 2, 3)
MODULE = "torch.nn.MultiheadAttention"


def measured(name="output", difference=2.22e-16, **fields):
    """A difference from PyTorch's module."""
    return Measured(**{"name": name, "source": MODULE, "difference": difference, "allowed": 1e-5} | fields)


def gradient(name="x", difference=4.44e-16, **fields):
    """The same, of a gradient."""
    return measured(name, difference, is_gradient=True, **fields)


# --- what a check finds ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The tiny course, whose library knows the output alone."""
    with own_reference():
        yield write_course(tmp_path_factory.mktemp("course"))


@pytest.fixture
def asked(course):
    """What a check of `mix` makes of a student's, and what was measured meanwhile."""

    def ask(mix, *claims):
        examination = examination_of(course, Pupil({"mix": mix}))
        examination.begin_check("mix.output", True)
        answer = Student(examination, "mix", "mix")(QUERY, KEY, gradients=True)
        try:
            for claim in claims:
                claim(answer)
        except CheckFailed:
            pass
        return examination

    return ask


def off_by(amount):
    """A `mix` whose output is that much too large."""
    return lambda query, key, mask=None: (query * key + amount, query + key)


def like_library(answer):
    answer.matches("output", source="library")


def gradients_like_library(answer):
    answer.gradients_match("query", "key", source="library")


def test_measured_difference_of_a_check_that_passes_is_kept(asked):
    """What is allowed goes with it, and is that of the comparison."""
    (kept,) = asked(off_by(1e-7), like_library).measured.values()

    assert ("output", False, "PyTorch", 1e-7) == (kept.name, kept.is_gradient, kept.source, kept.difference)
    assert 1e-5 <= kept.allowed < 1e-4


def test_measured_difference_of_a_check_that_fails_is_kept(asked):
    """The number that fails it stands beside those that do not."""
    assert [0.5] == [one.difference for one in asked(off_by(0.5), like_library).measured.values()]


def test_measured_gradients_are_told_from_values(asked):
    """A gradient has the name of its input."""
    found = asked(off_by(0.0), like_library, gradients_like_library).measured.values()

    assert [("output", False), ("query", True), ("key", True)] == [(one.name, one.is_gradient) for one in found]


def test_measured_comparison_with_the_reference_is_not_kept(asked):
    """People want to see PyTorch; how a textbook was written is nobody's concern."""
    assert {} == asked(off_by(0.0), lambda answer: answer.matches("output")).measured


def test_measured_larger_of_two_differences_is_kept(course):
    """A check has one entry a name, however often it asks."""
    examination = examination_of(course, Pupil({}))

    for difference in (1e-9, 3e-8, 2e-9):
        examination.measure(measured(difference=difference))

    assert [3e-8] == [one.difference for one in examination.measured.values()]


def test_measured_parameters_share_an_entry(course):
    """A module may have many, and a report holds the one that differs most."""
    examination = examination_of(course, Pupil({}))

    for name, difference in (("qkv.weight", 1e-9), ("out.weight", 3e-8)):
        examination.measure(gradient(name, difference, is_parameter=True))

    assert ["out.weight"] == [one.name for one in examination.measured.values()]


def test_measured_next_check_begins_with_nothing(asked):
    """What one check found is not the next one's."""
    examination = asked(off_by(0.0), like_library)

    examination.begin_check("mix.other", True)

    assert {} == examination.measured


def test_measured_result_comes_back_from_the_json_report_as_it_went():
    """The metadata of a test is what JSON can hold."""
    result = CheckResult(id="mix.output", verdict=Verdict.PASSED, measured=(measured(), gradient()))

    assert result == CheckResult.of_metadata(result.to_metadata())
    assert [dict, dict] == [type(one) for one in result.to_metadata()["measured"]]


# --- numbers ---------------------------------------------------------------------------------------------------------


def test_measure_nan_is_no_difference_that_passes():
    """A NaN anywhere is the largest of all, and a mismatch."""
    largest, mismatch = measure(torch.tensor([1.0, math.nan]), torch.tensor([1.0, 1.0]), 1.0)

    assert math.isnan(largest)
    assert mismatch is not None and (1,) == mismatch.index


def test_measure_tensors_without_elements_differ_by_nothing():
    """There is nothing that could."""
    assert (0.0, None) == measure(torch.empty(0, 3), torch.empty(0, 3), 0.0)


@pytest.mark.parametrize(
    ("difference", "kept"), [(2.2204e-16, 2.2e-16), (0.0, 0.0), (math.inf, 1e300), (math.nan, 1e300)]
)
def test_measured_difference_has_two_digits_and_is_a_number(difference, kept):
    """JSON has neither infinity nor NaN, and further digits are noise."""
    assert kept == measured(difference=difference).difference


def test_measured_difference_below_zero_is_refused():
    """It is a distance."""
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        measured(difference=-1.0)


# --- in words --------------------------------------------------------------------------------------------------------


def test_measured_words_name_each_tensor_and_say_once_what_is_allowed():
    """Values first, then gradients; parameters as a whole."""
    found = [measured(), measured("weights", 0.0), gradient(), gradient("qkv.weight", 1e-15, is_parameter=True)]

    assert [
        f"largest differences from {MODULE}: output 2.2e-16, weights 0, gradient of x 4.4e-16, "
        "gradients of parameters 1e-15 (allowed 1e-05)"
    ] == measured_texts(found)


def test_measured_words_repeat_what_is_allowed_where_it_changes():
    """Gradients have a scale of their own."""
    assert [
        f"largest differences from {MODULE}: output 2.2e-16 (allowed 1e-05), gradient of x 4.4e-16 (allowed 7.3e-05)"
    ] == measured_texts([measured(), gradient(allowed=7.3e-5)])


def test_agreements_take_the_largest_over_the_visible_checks_of_a_callable():
    """Values and gradients of inputs apart; of hidden checks and of parameters nothing."""
    checks = [
        make_check(callable="Heads", verdict=Verdict.PASSED, measured=[measured(difference=1e-16), gradient()]),
        make_check(callable="Heads", verdict=Verdict.PASSED, measured=[measured("weights", 3e-16)]),
        make_check(callable="Heads", measured=[gradient("qkv.weight", 1.0, is_parameter=True)]),
        make_check(callable="Heads", visible=False, measured=[measured(difference=0.5)]),
        make_check(callable="other"),
    ]

    (found,) = agreements(checks)

    assert ("Heads", MODULE, 3) == (found.callable, found.source, found.checks)
    assert ("3e-16", "4.4e-16", False) == (found.forward.text, found.gradient.text, found.forward.is_too_large)
    assert (
        f"largest differences from {MODULE}: values 3e-16 (allowed 1e-05), input gradients 4.4e-16 (allowed 1e-05)"
    ) == found.text


def test_agreements_say_which_difference_is_too_large():
    """Of a check that fails over its gradients, the values are none the worse."""
    (found,) = agreements([make_check(measured=[measured(), gradient(difference=0.3)])])

    assert (False, True) == (found.forward.is_too_large, found.gradient.is_too_large)


def test_agreements_without_gradients_have_none():
    """Nothing is made up where nothing was compared."""
    (found,) = agreements([make_check(measured=[measured()])])

    assert found.gradient is None


@pytest.mark.parametrize(
    ("difference", "text"), [(2.22e-16, "2.2e-16"), (1e-5, "1e-05"), (0.334, "0.33"), (174, "170"), (0, "0")]
)
def test_measured_numbers_have_two_digits_and_are_read_at_a_glance(difference, text):
    """With an exponent only where it is needed."""
    assert text == number(difference)
