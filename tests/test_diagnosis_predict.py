"""What edited references answer to a run's questions, and whether an answer is that one."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from sample_course import Pupil, own_reference
from sample_mistakes import SCALE, TINY, entry, given_by, make_case, right_mix, write_mistaken_course

from grader.checks import Student
from grader.diagnosis.predict import NOTHING
from grader.diagnosis.said import Kind
from grader.failure import CheckFailed


@pytest.fixture
def case_of(tmp_path):
    """The case of a callable in the course, or in one with other mistakes or modules."""

    def make(name="mix", put=None, **course):
        return make_case(write_mistaken_course(tmp_path, **course), name, put)

    with own_reference():
        yield make


def disagreeing(case, predictions, student, *made):
    """The numbers of the questions that a student answers otherwise than the reference with these mistakes."""
    pupil = Pupil({case.name: student}) if callable(student) else student
    observations = case.asked(pupil).observations
    return [
        number
        for number, (key, one) in enumerate(observations.items())
        if not predictions.agrees(predictions.read(one), frozenset(made), key, one.dtype)
    ]


def test_predictions_of_nothing_are_the_right_answers(case_of):
    """The reference, unedited, and whoever writes the same in another way."""
    case = case_of()
    predictions = case.predictions

    assert [] == disagreeing(case, predictions, right_mix)
    assert all(predictions.agrees(one, NOTHING, key) for key, one in predictions.right.items())


def test_predictions_know_the_questions_by_key_in_the_order_they_were_put(case_of):
    """As the rehearsal put them."""
    case = case_of()

    assert [one.question.key for one in case.rehearsed] == list(case.predictions.questions)
    assert list(case.predictions.right) == list(case.predictions.questions)


def test_predictions_of_a_mistake_are_what_a_student_with_it_answers(case_of):
    """Whatever its code looks like."""
    case = case_of()

    def not_shifted(query, key, mask=None):
        return key * (query + query), key + query

    assert [] == disagreeing(case, case.predictions, not_shifted, "not-shifted")
    assert [0, 1] == disagreeing(case, case.predictions, not_shifted)


def test_predictions_of_a_mistake_are_not_what_others_answer(case_of):
    """A mistake in one value, an answer that is wrong in the other."""
    case = case_of()

    assert [0, 1] == disagreeing(case, case.predictions, lambda q, k, mask=None: (q * k, q + k + 1), "not-shifted")


def test_predictions_with_other_gradients_do_not_agree(case_of):
    """The values alone are not the whole answer; the second question asks for no gradients."""
    case = case_of()

    def detached(query, key, mask=None):
        return query * key.detach() * 2, query + key + 1

    assert [0] == disagreeing(case, case.predictions, detached)


def test_predictions_of_a_mask_are_what_it_is_broadcast_to_unless_its_shape_is_stated(case_of):
    """Where the task names the shape, one that is only broadcast to it is another answer."""

    def one_row(length):
        if length < 0:
            raise ValueError("negative")
        return torch.ones(1, length, dtype=torch.bool)

    case = case_of("gate", tiny=TINY.replace(".tril()", ""), mistakes=SCALE)
    part, *others = case.assignment.parts
    stated = part.callables["gate"].model_copy(update={"is_broadcast": False})
    part = part.model_copy(update={"callables": {**part.callables, "gate": stated}})
    strict = replace(case, assignment=case.assignment.model_copy(update={"parts": (part, *others)}))

    assert [] == disagreeing(case, case.predictions, one_row)
    assert [0, 1] == disagreeing(strict, strict.predictions, one_row)


def test_predictions_missing_gradient_counts_as_zero(case_of):
    """An input that is not used has none, one that is multiplied by 0 has zeros."""
    case = case_of(mistakes=entry("query-lost", ("tiny.py", "long * key", "long * 0 + key")))

    def key_only(query, key, mask=None):
        return key * 1, query + key + 1

    assert [] == disagreeing(case, case.predictions, key_only, "query-lost")


def test_predictions_missing_gradient_is_not_one_that_is_there(case_of):
    """Zero differs from what flows."""
    case = case_of(mistakes=entry("query-kept", ("tiny.py", "long * key", "long * 1e-3 + key")))

    def lost(query, key, mask=None):
        return query.detach() * 2e-3 + key, query + key + 1

    assert [0] == disagreeing(case, case.predictions, lost, "query-kept")


@pytest.mark.parametrize(
    ("edit", "value"), [("long * key * (0 / key.new_zeros(()))", math.nan), ("long.detach().abs() / 0", math.inf)]
)
def test_predictions_nan_and_infinity_agree_at_equal_places(case_of, edit, value):
    """However they came about."""
    case = case_of(mistakes=entry("not-finite", ("tiny.py", "long * key", edit)))

    def made_otherwise(query, key, mask=None):
        return query * 0 + value, query + key + 1

    def elsewhere(query, key, mask=None):
        first, second = made_otherwise(query, key)
        return torch.cat([first[:, :-1], query[:, -1:]], dim=1), second

    assert [] == disagreeing(case, case.predictions, made_otherwise, "not-finite")
    assert [0, 1] == disagreeing(case, case.predictions, elsewhere, "not-finite")


def test_predictions_of_float32_arithmetic_agree_within_its_tolerance(case_of):
    """Code that only runs in float32 is asked there, and compared as coarsely."""
    case = case_of()
    ones = torch.ones(3, 3, dtype=torch.float32), torch.ones(5, 5, dtype=torch.float32)

    def fixed_dtype(query, key, mask=None):
        eye = next(one for one in ones if len(one) == query.shape[1])
        return (query * key * 2) @ torch.eye(len(eye), dtype=torch.float32), query + key + 1

    observations = case.asked(Pupil({"mix": fixed_dtype})).observations

    assert {"float32"} == {one.dtype for one in observations.values()}
    assert [] == disagreeing(case, case.predictions, fixed_dtype)


def test_predictions_of_float32_arithmetic_do_not_agree_within_that_of_float64(case_of):
    """The tolerance is that of the answer's own precision."""
    case = case_of()
    predictions = case.predictions
    key = next(iter(predictions.questions))
    right = predictions.right[key]
    near = replace(right, numbers=right.numbers.astype(np.float32).astype(np.float64) + 5e-5)

    assert predictions.agrees(near, NOTHING, key, "float32")
    assert not predictions.agrees(near, NOTHING, key, "float64")


def test_predictions_of_a_mask_agree_with_one_that_broadcasts(case_of):
    """A mask of one more axis of length 1 does the same."""
    course = {"tiny": TINY.replace("return torch.ones(length, length", "return torch.ones(1, length, length")}
    case = case_of("gate", **course)

    def flat(length):
        if length < 0:
            raise ValueError
        return torch.ones(length, length).tril() > 0

    assert [] == disagreeing(case, case.predictions, flat)


def test_predictions_right_error_agrees_with_the_same_and_those_below_it(case_of):
    """Whatever it says."""
    case = case_of("gate")

    class OwnError(ValueError):
        pass

    def refuses(length):
        if length < 0:
            raise OwnError("no")
        return torch.ones(length, length).tril() > 0

    assert [] == disagreeing(case, case.predictions, refuses)


@pytest.mark.parametrize("error", [RuntimeError, KeyError])
def test_predictions_another_error_than_the_right_one_does_not_agree_with_it(case_of, error):
    """It is a failure of the code, and no refusal."""
    case = case_of("gate")

    def fails(length):
        if length < 0:
            raise error
        return torch.ones(length, length).tril() > 0

    assert [2] == disagreeing(case, case.predictions, fails)


def test_predictions_error_that_did_not_come_is_what_the_mistake_does_instead(case_of):
    """A mistaken reference goes on into an operation that raises; so does the student, and not one who ends well."""
    case = case_of("gate")

    def goes_on(length):
        return torch.ones(length, length).tril() > 0

    def gives_nothing(length):
        return torch.ones(max(length, 0), max(length, 0)).tril() > 0

    assert [] == disagreeing(case, case.predictions, goes_on, "negative-taken")
    assert [2] == disagreeing(case, case.predictions, goes_on)
    assert [2] == disagreeing(case, case.predictions, gives_nothing, "negative-taken")


def test_predictions_changed_inputs_do_not_agree_unless_set_aside(case_of):
    """A call that changes what it was given is another than one that does not."""
    case = case_of()
    predictions = case.predictions

    def changes(query, key, mask=None):
        result = right_mix(query, key)
        key.data.mul_(2)
        return result[0].clone(), result[1].clone()

    observed = case.asked(Pupil({"mix": changes})).observations
    key = list(observed)[1]
    told = predictions.read(observed[key])

    assert frozenset({"key"}) == told.changed
    assert not predictions.agrees(told, NOTHING, key)
    assert predictions.agrees(replace(told, ignored=frozenset({"changed"})), NOTHING, key)


def test_predictions_of_what_tells_nothing_agree_with_nothing(case_of):
    """Two stubs are equal, and that is no answer."""
    case = case_of()

    def unfilled(query, key, mask=None):
        raise NotImplementedError

    assert [0, 1] == disagreeing(case, case.predictions, unfilled)


def test_predictions_of_a_question_with_a_history_meet_one_object(case_of):
    """The reference with a mistake is asked first what the student was asked first."""
    keeps = TINY.replace(
        "        return self.proj(shifted(query))\n",
        "        kept = query\n        return self.proj(shifted(query + 0 * kept))\n",
    )
    book = entry(
        "kept",
        ("tiny.py", "        kept = query\n", "        kept = self.kept = getattr(self, 'kept', query)\n"),
        ("tiny.py", "query + 0 * kept", "query + kept"),
    )
    case = case_of("Scale", mistakes=book, tiny=keeps)
    predictions = case.predictions

    assert [] == disagreeing(case, predictions, case.reference("kept"), "kept")
    first, later = predictions.questions
    alone = predictions.questions[later]
    assert 1 == len(alone.history)
    assert not np.allclose(predictions.values(frozenset({"kept"}), later).numbers, predictions.right[later].numbers)
    assert first != later


def test_predictions_candidates_are_the_callable_s_and_contexts_begin_with_none(case_of):
    """In the book's order."""
    predictions = case_of("gate").predictions

    assert ("without-diagonal", "upper", "negative-taken") == predictions.candidates
    assert NOTHING == predictions.contexts[0]


def test_predictions_contexts_are_the_variations_of_the_callable(case_of):
    """Those of other callables change nothing here."""
    case = case_of()

    assert (NOTHING, frozenset({"shifted-before"})) == case.predictions.contexts


def test_predictions_variation_alone_agrees_with_the_right_answers(case_of):
    """It is right code."""
    predictions = case_of().predictions

    assert all(predictions.agrees(one, frozenset({"shifted-before"}), key) for key, one in predictions.right.items())


def test_predictions_touching_are_the_mistakes_that_change_an_answer(case_of):
    """In the book's order, each question for itself."""
    predictions = case_of("gate").predictions
    three, _, negative = predictions.questions

    assert ("without-diagonal", "upper") == predictions.touching(three)
    assert ("negative-taken",) == predictions.touching(negative)


def test_predictions_values_have_no_gradients_and_the_whole_has(case_of):
    """Gradients are computed when they are needed; asked twice, the answer is the same."""
    predictions = case_of().predictions
    first, second = predictions.questions
    made = frozenset({"key-squared"})

    values, whole = predictions.values(made, first), predictions.whole(made, first)

    assert (None, {"arg.query", "arg.key"}) == (values.gradients, whole.gradients.keys())
    assert np.array_equal(values.numbers, whole.numbers)
    assert np.array_equal(whole.numbers, predictions.values(made, first).numbers)
    assert predictions.whole(made, second).gradients is None


def test_predictions_of_sets_do_not_depend_on_what_was_asked_before(case_of):
    """Modules are made anew for each set, in whichever order."""
    case = case_of()
    sets = [frozenset({"key-squared"}), frozenset({"not-shifted"}), frozenset({"key-squared", "not-shifted"}), NOTHING]
    one, other = case.predictions, case.predictions

    forward = {(made, key): one.whole(made, key).numbers for made in sets for key in one.questions}
    backward = {(made, key): other.whole(made, key).numbers for key in other.questions for made in reversed(sets)}

    assert all(np.array_equal(numbers, backward[asked]) for asked, numbers in forward.items())


def test_predictions_of_a_mistake_that_raises_are_that_it_raises(case_of):
    """The call fails, not the diagnosis."""
    predictions = case_of().predictions
    first, _ = predictions.questions

    told = predictions.whole(frozenset({"product-in-total"}), first)

    assert (Kind.RAISED, True) == (told.kind, told.raises("RuntimeError"))


def test_predictions_failure_is_the_operation_that_the_edited_reference_fails_in(case_of):
    """The operation, and the shapes of its operands."""
    predictions = case_of().predictions
    first, _ = predictions.questions

    kind, operation, shapes, _ = predictions.failure(frozenset({"product-in-total"}), first)

    assert ("raised", "product") == (kind, operation)
    assert 2 == len(shapes)


def test_predictions_kinds_are_one_for_other_sizes_and_two_for_other_flags(case_of):
    """Questions of one kind tell much alike."""

    def put(examination):
        student, given = Student(examination, "mix", "mix"), given_by(examination)
        for name, size, more in (("a", 3, {}), ("b", 5, {}), ("c", 3, {"mask": None})):
            try:
                student(given.normal(f"query {name}", 2, size), given.normal(f"key {name}", 2, size), **more)
            except CheckFailed:
                raise AssertionError from None

    predictions = case_of(put=put).predictions
    small, large, flagged = map(predictions.kind, predictions.questions)

    assert small == large
    assert small != flagged


def test_predictions_without_a_mistake_leave_it_out_and_change_nothing_for_others(case_of):
    """Whichever is asked first; what both know is shared."""
    before = case_of().predictions
    first = next(iter(before.questions))

    without = before.without(["key-squared"])
    touching = without.touching(first)

    assert "key-squared" not in {*without.candidates, *touching}
    assert {"key-squared"} == set(before.touching(first)) - set(touching)
    assert {"key-squared"} == set(before.candidates) - set(without.candidates)
    assert touching == before.without(["key-squared"]).touching(first)
