"""What is said of a callable without explaining it: not written, never ran, random, right for some sizes only."""

import contextlib
from dataclasses import replace

import pytest
import torch
from sample_course import line as line_of
from sample_course import own_reference, raised
from sample_mistakes import given_by, make_case, pupil, right_mix, write_mistaken_course

from grader.checks import Student
from grader.diagnosis import recognise
from grader.diagnosis.by_size import deciding_size
from grader.diagnosis.traits import (
    DIFFERS,
    NOT_FILLED_IN,
    NOT_THERE,
    ONE_SIZE,
    OTHER_DEVICE,
    RETURNS_NOTHING,
    STATE_KEPT,
)
from grader.failure import CheckFailed
from grader.outcome import Outcome, Raised
from grader.question import Observation
from grader.verdict import Verdict

FAILED = {"mix.first": Verdict.WRONG_VALUE, "mix.second": Verdict.WRONG_VALUE}


@pytest.fixture
def case_of(tmp_path):
    """The case of a callable, perhaps with other questions."""

    def make(name="mix", put=None):
        return make_case(write_mistaken_course(tmp_path), name, put)

    with own_reference():
        yield make


def stated(case, written, failed=None):
    """What a student's answers state by themselves."""
    observations = case.asked(pupil(case.name, written)).observations
    return recognise.stated(case.predictions, observations, failed or FAILED)


def unexplained(case, written, failed=None):
    """What is said when nothing explains a student's answers."""
    examination = case.asked(pupil(case.name, written))
    return recognise.unexplained(examination, case.predictions, examination.observations, failed or FAILED)


def traits(explanation):
    """Their ids."""
    return [trait.id for trait in explanation.traits]


def test_stated_right_answers_state_nothing(case_of):
    """There is something to compare."""
    assert stated(case_of(), right_mix) is None


def test_stated_stub_is_not_filled_in(case_of):
    """With its line, in all checks that failed, and without a mistake's name."""

    def unfilled(query, key, mask=None):
        raise NotImplementedError

    found = stated(case_of(), unfilled)

    assert ([NOT_FILLED_IN.id], (), False) == (traits(found), found.mistakes, found.is_whole)
    assert {NOT_FILLED_IN.id: ("mix.first", "mix.second")} == dict(found.shown_by)
    assert "raise NotImplementedError" in found.evidence[NOT_FILLED_IN.id]


def test_stated_part_that_is_not_filled_in_is_enough(case_of):
    """One branch of it is still to be written."""

    def half(query, key, mask=None):
        if query.shape[0] == 4:
            raise NotImplementedError("later")
        return right_mix(query, key)

    assert [NOT_FILLED_IN.id] == traits(stated(case_of(), half))


def test_stated_error_that_only_hidden_checks_met_is_not_quoted(case_of):
    """Its text may hold their inputs, and students read what is quoted."""

    def tells(query, key, mask=None):
        if query.shape[0] == 4:
            raise NotImplementedError(query.tolist())
        return right_mix(query, key)

    case = case_of()
    observations = {
        key: replace(one, question=replace(one.question, is_visible=not isinstance(one.outcome.reply, Raised)))
        for key, one in case.asked(pupil(case.name, tells)).observations.items()
    }

    found = recognise.stated(case.predictions, observations, FAILED)

    assert ([NOT_FILLED_IN.id], {}) == (traits(found), dict(found.evidence))


def test_stated_operation_that_torch_has_not_implemented_is_no_stub(case_of):
    """Torch raises the same class, from a line that says nothing of it."""

    def unknown(query, key, mask=None):
        return torch.ops.aten._nested_tensor_size(query), key

    assert stated(case_of(), unknown) is None


def test_stated_callable_that_returns_nothing_is_told(case_of):
    """In every call that it answers."""
    assert [RETURNS_NOTHING.id] == traits(stated(case_of(), lambda query, key, mask=None: [query, None][1]))


def test_stated_callable_that_returns_a_pair_of_none_is_told(case_of):
    """As one does that hands on what a function gave it that is still to be written."""
    assert [RETURNS_NOTHING.id] == traits(stated(case_of(), lambda query, key, mask=None: (None, [query, None][1])))


def test_stated_callable_that_returns_nothing_in_one_call_is_not_told(case_of):
    """The others tell more."""
    assert stated(case_of(), lambda query, key, mask=None: right_mix(query, key) if len(query) == 2 else None) is None


def test_stated_callable_that_always_raises_does_not_return_nothing(case_of):
    """It never came to its return."""

    def fails(query, key, mask=None):
        return [][1]

    assert stated(case_of(), fails) is None


def test_stated_misspelt_name_in_every_call_is_one_that_does_not_exist(case_of):
    """It has never run to its end."""

    def misspelt(query, key, mask=None):
        return torch.mullt(query, key), key

    found = stated(case_of(), misspelt)

    assert [NOT_THERE.id] == traits(found)
    assert "AttributeError" in found.evidence[NOT_THERE.id]
    assert "torch.mullt(query, key)" in found.evidence[NOT_THERE.id]


def test_stated_misspelt_name_in_one_call_is_not_enough(case_of):
    """The others tell more."""

    def misspelt(query, key, mask=None):
        return right_mix(query, key) if len(query) == 2 else (quary, key)  # noqa: F821

    assert stated(case_of(), misspelt) is None


def test_stated_device_that_is_not_there_is_told(case_of):
    """In whichever call it is met."""
    case = case_of()
    observations = dict(case.asked(pupil("mix", right_mix)).observations)
    key, one = next(iter(observations.items()))
    reply = raised(message="Torch not compiled with CUDA enabled", type="AssertionError", frames=(line_of(),))
    observations[key] = Observation(question=one.question, outcome=Outcome(reply=reply), dtype="float64")

    found = recognise.stated(case.predictions, observations, FAILED)

    assert [OTHER_DEVICE.id] == traits(found)
    assert "mix.py, line 3" in found.evidence[OTHER_DEVICE.id]


def test_stated_import_that_failed_is_not_explained(case_of):
    """Nothing is known of the code, and nothing is claimed."""
    case = case_of()
    one = next(iter(case.rehearsed))
    broken = Observation(question=one.question, outcome=Outcome(reply=raised(stage="import")), dtype="float64")
    observations = {other.question.key: broken for other in case.rehearsed}

    found = recognise.stated(case.predictions, observations, FAILED)

    assert found is None


def test_unexplained_answers_are_not_recognised(case_of):
    """Nothing is said, and the callable is not explained."""
    found = unexplained(case_of(), lambda query, key, mask=None: (query - key, query - key))

    assert ((), (), False) == (found.mistakes, found.traits, found.is_whole)


def test_unexplained_unstable_answers_are_random(case_of):
    """Shown by the checks that met two answers."""
    found = unexplained(
        case_of(), lambda query, key, mask=None: (query - key, query), FAILED | {"mix.third": Verdict.UNSTABLE}
    )

    assert [DIFFERS.id] == traits(found)
    assert {DIFFERS.id: ("mix.third",)} == dict(found.shown_by)
    assert not found.is_whole


def test_unexplained_answers_that_are_right_at_first_keep_state(case_of):
    """Asked anew, every wrong answer is right."""

    class Once:
        def __init__(self):
            self.kept = None

        def __call__(self, query, key, mask=None):
            self.kept = query.shape if self.kept is None else self.kept
            more = 0 if self.kept == query.shape else 1
            return query * key * 2 + more, query + key + 1

    case = case_of()
    student = pupil("mix", Once())
    begin = student.begin_anew
    forgetful = {"mix": Once}
    examination = case.asked(student)

    def anew():
        vars(student._module)["mix"] = forgetful["mix"]()
        begin()

    student.begin_anew = anew
    found = recognise.unexplained(examination, case.predictions, examination.observations, FAILED)

    assert [STATE_KEPT.id] == traits(found)


def put_sizes(*shapes):
    """A question for each shape."""

    def put(examination):
        student, given = Student(examination, "mix", "mix"), given_by(examination)
        for number, shape in enumerate(shapes):
            with contextlib.suppress(CheckFailed):
                student(given.normal(f"query {number}", *shape), given.normal(f"key {number}", *shape))

    return put


def square_only(query, key, mask=None):
    """Right where there are as many rows as columns."""
    return query * key * 2 + (query.shape[0] != query.shape[1]), query + key + 1


def test_unexplained_callable_that_is_right_for_some_sizes_says_which(case_of):
    """As many rows as columns."""
    case = case_of(put=put_sizes((2, 2), (3, 3), (4, 4), (2, 3), (4, 3), (5, 2)))

    found = unexplained(case, square_only)

    assert [ONE_SIZE.id] == traits(found)
    assert "right in all 3 calls where column and row are equal, wrong in all 3 others" == found.evidence[ONE_SIZE.id]


def size_of(case, written):
    """The sizes that decide."""
    observations = case.asked(pupil("mix", written)).observations
    return deciding_size(case.assignment.callable("mix", "mix"), case.predictions, observations)


def test_size_that_is_wrong_for_one_is_told_the_other_way_round(case_of):
    """Wrong where there is one row."""
    case = case_of(put=put_sizes((1, 4), (1, 5), (1, 3), (2, 3), (4, 3), (5, 2)))

    def not_one(query, key, mask=None):
        return query * key * 2 + (len(query) == 1), query + key + 1

    assert size_of(case, not_one) == "wrong in all 3 calls where row is 1, right in all 3 others"


def test_size_with_two_calls_of_a_kind_decides_nothing(case_of):
    """It could be so by chance."""
    assert size_of(case_of(put=put_sizes((2, 2), (3, 3), (2, 3), (4, 3), (5, 2))), square_only) is None


def test_size_with_an_exception_to_the_rule_decides_nothing(case_of):
    """Sizes alone do not decide."""
    case = case_of(put=put_sizes((2, 2), (3, 3), (4, 4), (5, 5), (2, 3), (4, 3), (5, 2)))

    def but_for_three(query, key, mask=None):
        first, second = square_only(query, key)
        return (first + 1 if query.shape == (3, 3) else first), second

    assert size_of(case, but_for_three) is None


def test_size_of_right_answers_decides_nothing(case_of):
    """There is nothing wrong."""
    assert size_of(case_of(put=put_sizes((2, 2), (3, 3), (2, 3), (4, 3))), right_mix) is None
