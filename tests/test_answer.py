"""Judging an answer: structure, shape, dtype, finiteness and values, in this order, and the first fault ends it."""

import math

import pytest
import torch
from sample_course import Pupil, Scripted, examination_of, own_reference, raised, write_course

from grader.checks import Student
from grader.failure import CheckFailed
from grader.given import Given
from grader.outcome import Gradients, Outcome, Returned, TimedOut
from grader.verdict import Verdict

GIVEN = Given(7, "test")
QUERY, KEY = GIVEN.normal("query", 2, 3), GIVEN.normal("key", 2, 3)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The tiny course: mix(query, key) is (query * key, query + key)."""
    with own_reference():
        yield write_course(tmp_path_factory.mktemp("course"))


@pytest.fixture
def answer(course):
    """Asks a `mix` of the student's for (2, 3) inputs, gradients included."""

    def put(mix, **options):
        student = Student(examination_of(course, Pupil({"mix": mix})), "mix", "mix")
        return student(QUERY, KEY, **({"gradients": True} | options))

    return put


@pytest.fixture
def mask(course):
    """Asks a `gate` of the student's for three positions."""

    def put(gate):
        return Student(examination_of(course, Pupil({"gate": gate})), "mix", "gate")(3)

    return put


def right(query, key, mask=None):
    """What the reference does, in other words."""
    return torch.mul(key, query), torch.add(key, query)


def failure(claim, *arguments, **options):
    """How a claim fails."""
    with pytest.raises(CheckFailed) as failed:
        claim(*arguments, **options)
    return failed.value


def changed(value, at=(1, 2), by=0.5):
    """The tensor, one element changed."""
    value = value.clone()
    value[at] += by
    return value


def test_answer_wrong_mask_is_told_in_true_and_false(mask):
    """Whether it is compared as a mask, or as a value, or in a property."""
    given = mask(lambda length: torch.ones(length, length, dtype=torch.bool))
    lower = torch.ones(3, 3, dtype=torch.bool).tril()

    for claim in (
        lambda: given.matches_mask(3, 3),
        given.matches,
        lambda: given.holds("it is lower", given.value("mask"), lower, of="mask", axes=("row", "column")),
    ):
        assert "  first     row 0, column 1: observed True, expected False" in str(failure(claim)).splitlines()


# --- right answers ----------------------------------------------------------------------------------------------


def test_answer_right_in_every_way_passes_every_claim(answer):
    """No claim finds a fault in code that does what the reference does."""
    given = answer(right)

    given.has_form()
    given.matches()
    given.matches("output", source="library")
    given.gradients_match("query", "key")
    given.has_dtype(torch.float64)
    given.leaves_inputs_unchanged()
    given.is_repeatable()


def test_answer_within_the_tolerance_passes(answer):
    """Rounding is no mistake."""
    answer(lambda query, key, mask=None: (query * key + 1e-9, query + key)).matches()


@pytest.mark.parametrize(
    "disguise",
    [
        lambda value: value.T.contiguous().T,
        lambda value: value.expand(1, 2, 3)[0],
        torch.nn.Parameter,
        lambda value: value.detach(),
    ],
    ids=["strides", "expanded", "parameter", "detached"],
)
def test_answer_in_an_unusual_but_honest_tensor_passes(answer, disguise):
    """Values count, not how they lie in memory."""
    answer(lambda query, key, mask=None: (disguise(query * key), disguise(query + key))).matches()


def test_answer_in_a_list_counts_as_a_tuple(answer):
    """The order is what the task names."""
    answer(lambda query, key, mask=None: [query * key, query + key]).has_form()


# --- structure --------------------------------------------------------------------------------------------------


def test_answer_that_came_alone_counts_as_the_first_value(answer):
    """Forgetting the second value costs the form and what looks at that value, not the values of the first."""
    given = answer(lambda query, key, mask=None: query * key)

    given.matches("output")
    given.gradients_match("query")
    assert Verdict.WRONG_TYPE is failure(given.has_form).verdict
    assert Verdict.WRONG_TYPE is failure(given.matches, "weights").verdict


@pytest.mark.parametrize(
    ("returned", "found"),
    [
        (lambda output, weights: None, "None"),
        (lambda output, weights: "text", "str 'text'"),
        (lambda output, weights: 3.5, "float 3.5"),
        (lambda output, weights: {"output": output}, "an object of the class dict"),
        (lambda output, weights: (), "an empty tuple"),
        (lambda output, weights: (None, weights), "a tuple of 2: None, one tensor [2, 3]"),
        (lambda output, weights: output.tolist(), "a list of 2: an object of the class list, an object"),
        (lambda output, weights: output.to_sparse(), "a tensor of layout sparse_coo"),
        (lambda output, weights: output.to("meta"), "a tensor on the device meta"),
    ],
)
def test_answer_of_another_structure_is_a_wrong_type(answer, returned, found):
    """Whatever came is said in words, beside what the task names."""
    given = answer(lambda query, key, mask=None: returned(query * key, query + key))

    failed = failure(given.matches, "output")

    assert Verdict.WRONG_TYPE is failed.verdict
    assert failed.fact.found.startswith(found)
    assert "a tuple (output, weights) of tensors" == failed.fact.wanted


def test_answer_of_three_values_loses_only_its_form(answer):
    """What is asked for is there; the rest is too much."""
    given = answer(lambda query, key, mask=None: (query * key, query + key, query))

    given.matches()
    assert "a tuple of 3: one tensor [2, 3], one tensor [2, 3], one tensor [2, 3]" == failure(given.has_form).fact.found


def test_answer_in_a_tuple_where_one_value_is_named_loses_only_its_form(mask):
    """A mask in a tuple of one is still the mask."""
    given = mask(lambda length: (torch.ones(length, length, dtype=torch.bool).tril(),))

    given.matches_mask(3, 3)
    assert "the tensor mask" == failure(given.has_form).fact.wanted


# --- shape, dtype, finiteness, values: in this order ------------------------------------------------------------


def test_answer_wrong_shape_hides_dtype_finiteness_and_values(answer):
    """Nothing else can be said of a tensor of another shape."""
    given = answer(lambda query, key, mask=None: ((query * key).T.int() * math.nan, query + key))

    failed = failure(given.matches)

    assert Verdict.WRONG_SHAPE is failed.verdict
    assert ((3, 2), (2, 3), ("row", "column")) == (failed.fact.observed, failed.fact.expected, failed.fact.axes)
    assert Verdict.WRONG_SHAPE is failure(given.gradients_match, "query").verdict


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.complex128])
def test_answer_wrong_dtype_hides_finiteness_and_values(answer, dtype):
    """Numbers of another kind are not compared."""
    failed = failure(answer(lambda query, key, mask=None: ((query * key).to(dtype), query + key)).matches)

    assert Verdict.WRONG_DTYPE is failed.verdict
    assert (str(dtype), "torch.float64") == (f"torch.{failed.fact.observed}", f"torch.{failed.fact.expected}")


def test_answer_not_finite_in_a_later_value_hides_wrong_earlier_ones(answer):
    """Finiteness of all values comes before the value of any."""
    given = answer(lambda query, key, mask=None: (query * key + 1, (query + key) / 0))

    failed = failure(given.matches)

    assert Verdict.NOT_FINITE is failed.verdict
    assert ("weights", (0, 0), 6, 6) == (failed.fact.name, failed.fact.index, failed.fact.count, failed.fact.total)


def test_answer_wrong_value_shows_where(answer):
    """One element of six."""
    failed = failure(answer(lambda query, key, mask=None: (changed(query * key), query + key)).matches)

    assert (Verdict.WRONG_VALUE, "output", (1, 2), 1) == (
        failed.verdict,
        failed.fact.name,
        failed.fact.mismatch.index,
        failed.fact.mismatch.differing,
    )


def test_answer_named_values_alone_are_judged(answer):
    """A wrong value costs the checks that look at it, and no others."""
    given = answer(lambda query, key, mask=None: (query * key, query - key))

    given.matches("output")
    assert "weights" == failure(given.matches, "weights").fact.name


def test_answer_value_is_given_as_float64_once_it_is_finite(answer):
    """What a check computes with."""
    given = answer(lambda query, key, mask=None: (query * key, query / 0))

    assert torch.equal(QUERY * KEY, given.value("output"))
    assert Verdict.NOT_FINITE is failure(given.value, "weights").verdict
    assert given.tensor("weights").isinf().all()


def test_answer_without_a_value_fails_every_claim_alike(answer):
    """An exception is told whichever claim comes first."""

    def broken(query, key, mask=None):
        raise KeyError("x")

    given = answer(broken)

    for claim in (given.has_form, given.matches, given.leaves_inputs_unchanged, given.is_repeatable):
        assert Verdict.EXCEPTION is failure(claim).verdict
    assert Verdict.EXCEPTION is failure(given.gradients_match, "query").verdict
    assert Verdict.EXCEPTION is failure(given.has_dtype, torch.float64).verdict


# --- gradients --------------------------------------------------------------------------------------------------


def test_answer_wrong_gradient_with_right_values_costs_the_gradient(answer):
    """One input detached where the values do not show it."""
    given = answer(lambda query, key, mask=None: (query * key + query - query.detach(), query + key))

    given.matches()
    given.gradients_match("key")
    failed = failure(given.gradients_match, "query")

    assert (Verdict.WRONG_GRADIENT, "query", True) == (failed.verdict, failed.fact.name, failed.fact.is_gradient)


def test_answer_gradients_without_names_are_all_judged(answer):
    """Naming none means all, as it does for values."""
    given = answer(lambda query, key, mask=None: (query * key + key - key.detach(), query + key))

    assert "key" == failure(given.gradients_match).fact.name


def test_answer_without_a_way_back_names_all_inputs_that_lack_a_gradient(answer):
    """A detached output reaches nobody."""
    given = answer(lambda query, key, mask=None: ((query * key).detach(), query + key))

    failed = failure(given.gradients_match, "query")

    assert (Verdict.NO_GRADIENT, ("query", "key")) == (failed.verdict, failed.fact.names)


def test_answer_gradient_that_is_not_finite_is_said_to_be(answer):
    """The square root of 0 has a value and no slope."""
    given = answer(lambda query, key, mask=None: (query * key + (query - query).sqrt(), query + key))

    given.matches()
    failed = failure(given.gradients_match, "query")

    assert (Verdict.NOT_FINITE, True) == (failed.verdict, failed.fact.is_gradient)


def test_answer_backward_pass_that_fails_is_no_gradient(answer):
    """An exception in the student's own backward pass."""

    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value.clone()

        @staticmethod
        def backward(ctx, gradient):
            raise ValueError("no way back")

    given = answer(lambda query, key, mask=None: (Broken.apply(query * key), query + key))

    given.matches()
    assert Verdict.NO_GRADIENT is failure(given.gradients_match, "query").verdict


def scripted(course, **fields):
    """The answer of a worker that returned the right values, its backward pass as scripted."""
    tree = {
        "kind": "sequence",
        "type": "tuple",
        "length": 2,
        "items": [
            {"kind": "tensor", "dtype": "float64", "shape": [2, 3], "data": "0"},
            {"kind": "tensor", "dtype": "float64", "shape": [2, 3], "data": "1"},
        ],
    }
    outcome = Outcome(
        reply=Returned(status="returned", tree=tree, changed=()),
        tensors={"0": QUERY * KEY, "1": QUERY + KEY},
        **fields,
    )
    return Student(examination_of(course, Scripted(outcome)), "mix", "mix")(QUERY, KEY, gradients=True)


def test_answer_time_out_of_the_backward_pass_leaves_the_values(course):
    """What arrived before is judged; the rest is a timeout."""
    given = scripted(course, backward=TimedOut(stage="backward", limit_s=2.0))

    given.matches()
    assert Verdict.TIMEOUT is failure(given.gradients_match, "query").verdict


@pytest.mark.parametrize(
    "gradient",
    [None, KEY[0], KEY.float(), torch.zeros(2, 3, dtype=torch.float8_e4m3fn), KEY.to(torch.complex128)],
    ids=["absent", "shape", "float32", "float8", "complex"],
)
def test_answer_gradient_that_no_honest_worker_sends_is_a_crash(course, gradient):
    """A forged gradient is the student's failure, never an error of the grader."""
    gradients = {} if gradient is None else {"arg.query": gradient}
    given = scripted(course, backward=Gradients(status="gradients", missing=()), gradients=gradients)

    assert Verdict.CRASHED is failure(given.gradients_match, "query").verdict


# --- other claims -----------------------------------------------------------------------------------------------


def test_answer_in_place_slip_costs_its_own_check_only(answer):
    """An input changed on the way, right values and gradients all the same."""

    def slip(query, key, mask=None):
        output = query * key
        query += key
        return output, query

    given = answer(slip)

    given.matches()
    failed = failure(given.leaves_inputs_unchanged)
    assert (Verdict.INPUT_CHANGED, ("query",)) == (failed.verdict, failed.fact.names)


def test_answer_with_two_answers_to_one_question_is_unstable(answer):
    """Random numbers in the output are a finding of their own, not a wrong value."""
    given = answer(lambda query, key, mask=None: (query * key + torch.rand(2, 3), query + key))

    assert Verdict.UNSTABLE is failure(given.matches).verdict
    assert Verdict.UNSTABLE is failure(given.is_repeatable).verdict


def test_answer_not_finite_now_and_then_is_unstable(answer):
    """Memory left uninitialised is NaN at times."""
    calls = []

    def moody(query, key, mask=None):
        calls.append(1)
        return query * key / (0 if len(calls) == 1 else 1), query + key

    assert Verdict.UNSTABLE is failure(answer(moody).matches).verdict


def test_answer_wrong_gradient_of_random_values_is_unstable(answer):
    """A random factor shows in the second forward pass."""
    given = answer(lambda query, key, mask=None: (query * key * torch.rand(1), query + key))

    assert Verdict.UNSTABLE is failure(given.gradients_match, "query").verdict


def test_answer_with_a_huge_value_beside_the_wrong_one_is_not_compared_with_itself(answer):
    """Millions of elements of a value that is of the wrong shape anyway would be compared with every wrong answer."""
    given = answer(lambda query, key, mask=None: (query * key + 1, torch.rand(300, 300)))

    assert Verdict.WRONG_VALUE is failure(given.matches, "output").verdict


def test_answer_that_is_wrong_twice_alike_is_wrong_and_not_unstable(answer):
    """The same NaN in the same place is no change."""
    given = answer(lambda query, key, mask=None: (query * key / 0, query + key))

    assert Verdict.NOT_FINITE is failure(given.matches).verdict
    given.is_repeatable()


def test_answer_property_is_judged_within_the_tolerance(answer):
    """A rule computed from the answer, with a scale of its own."""
    given = answer(right)
    sums = given.value("weights").sum(-1)

    given.holds("rows sum up", sums + 1e-9, (QUERY + KEY).sum(-1), of="row sums")
    failed = failure(given.holds, "rows sum up", sums + 1, sums, of="row sums", axes=("row",))

    assert (Verdict.WRONG_VALUE, "rows sum up", "row sums", ("row",)) == (
        failed.verdict,
        failed.fact.claim,
        failed.fact.name,
        failed.fact.axes,
    )


def test_answer_property_that_must_hold_exactly_allows_nothing(answer):
    """A forbidden weight is 0, not nearly."""
    zeros = torch.zeros(2, dtype=torch.float64)

    assert (
        0.0 == failure(answer(right).holds, "none", zeros + 1e-300, zeros, of="w", exactly=True).fact.mismatch.allowed
    )


def test_answer_has_dtype_leaves_missing_values_to_the_form(answer):
    """One mistake, one price: who returns no weights does not lose the check of the dtype as well."""
    given = answer(lambda query, key: (query * key, None))

    given.has_dtype(torch.float64)

    assert Verdict.WRONG_TYPE is failure(given.has_form).verdict


def test_answer_has_dtype_needs_the_first_value(answer):
    """There must be something to have a dtype."""
    given = answer(lambda query, key: (None, query + key))

    assert Verdict.WRONG_TYPE is failure(given.has_dtype, torch.float64).verdict


@pytest.mark.parametrize(("dtype", "passes"), [(torch.float64, True), (torch.float32, False)])
def test_answer_has_dtype_looks_at_every_returned_value(answer, dtype, passes):
    """The second value counts too."""
    given = answer(lambda query, key, mask=None: (query * key, (query + key).to(dtype)), dtype="float32")

    if passes:
        given.has_dtype(torch.float64)
    else:
        failed = failure(given.has_dtype, torch.float64)
        assert ("weights", "float32", "float64") == (failed.fact.name, failed.fact.observed, failed.fact.expected)


# --- masks ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "gate",
    [
        lambda length: torch.ones(length, length).tril().bool(),
        lambda length: torch.ones(length, length).tril(),
        lambda length: torch.ones(length, length).tril().int(),
        lambda length: torch.ones(length, length, dtype=torch.bool).tril()[None],
    ],
    ids=["bool", "float", "int", "batch"],
)
def test_answer_mask_of_zeros_and_ones_counts_whatever_its_dtype(mask, gate):
    """The dtype of a mask has a check of its own; broadcasting is allowed."""
    mask(gate).matches_mask(1, 3, 3)


def test_answer_mask_of_other_numbers_is_a_wrong_dtype(mask):
    """An additive mask is not the Boolean one asked for."""
    given = mask(lambda length: torch.ones(length, length).triu(1) * -1e9)

    failed = failure(given.matches_mask, 3, 3)

    assert (Verdict.WRONG_DTYPE, "bool") == (failed.verdict, failed.fact.expected)


def test_answer_mask_that_cannot_be_broadcast_is_a_wrong_shape(mask):
    """The shape it must reach is named."""
    failed = failure(mask(lambda length: torch.ones(length, length + 1, dtype=torch.bool)).matches_mask, 3, 3)

    assert (Verdict.WRONG_SHAPE, (3, 4), (3, 3)) == (failed.verdict, failed.fact.observed, failed.fact.expected)


def test_answer_inverted_mask_is_a_wrong_value(mask):
    """Every element of it."""
    failed = failure(mask(lambda length: torch.ones(length, length).triu(1).bool()).matches_mask, 3, 3)

    assert (Verdict.WRONG_VALUE, 9) == (failed.verdict, failed.fact.mismatch.differing)


def test_answer_mask_can_be_compared_like_any_value(mask):
    """`matches` takes a Boolean value too."""
    mask(lambda length: torch.ones(length, length).tril().bool()).matches()
    assert Verdict.WRONG_VALUE is failure(mask(lambda length: torch.ones(length, length).bool()).matches).verdict


# --- float32 ----------------------------------------------------------------------------------------------------


def single_precision(query, key, mask=None):
    """Right, but for a dtype that is written out."""
    return (query.float() * key.float()), query.float() + key.float()


def test_answer_in_float32_is_judged_at_its_own_tolerance(answer):
    """Only the dtype check is lost."""
    given = answer(single_precision)

    given.matches()
    given.matches("output", source="library")
    given.gradients_match("query", "key")
    assert "float32" == given.call.dtype
    assert 1e-4 == given.tolerance


def test_answer_that_raises_over_its_dtype_is_asked_again_in_float32(answer):
    """A float32 buffer meets float64 inputs."""

    def buffered(query, key, mask=None):
        return query * key @ torch.eye(3, dtype=torch.float32), query + key

    answer(buffered).matches()


def test_answer_in_float32_that_is_wrong_stays_wrong(answer):
    """The second try forgives a dtype, not a value."""
    given = answer(lambda query, key, mask=None: (query.float() * key.float() + 1, query.float() + key.float()))

    assert Verdict.WRONG_VALUE is failure(given.matches).verdict


def test_answer_of_a_dtype_that_float32_inputs_do_not_mend_is_a_wrong_dtype(answer):
    """Half precision stays half precision; the first answer is the one judged."""
    given = answer(lambda query, key, mask=None: ((query * key).half(), query + key))

    failed = failure(given.matches)

    assert (Verdict.WRONG_DTYPE, "float16", "float64") == (failed.verdict, failed.fact.observed, failed.fact.expected)


def test_answer_exception_that_float32_does_not_mend_is_told_as_it_was(answer):
    """The message is about the call that was meant."""

    def broken(query, key, mask=None):
        raise TypeError(str(query.dtype))

    assert "torch.float64" == failure(answer(broken).matches).fact.failed.message


@pytest.mark.parametrize(
    "outcome", [Outcome(reply=TimedOut(stage="call", limit_s=2.0)), Outcome(reply=raised(stage="import"))]
)
def test_answer_that_float32_cannot_mend_is_not_asked_for_again(course, outcome):
    """No second timeout, and no second import."""
    respondent = Scripted(outcome)

    Student(examination_of(course, respondent), "mix", "mix")(QUERY, KEY)

    assert 1 == len(respondent.asked)
