"""Visible checks of masked.py. True in a mask means: this query may attend to this key."""

import math

import torch

from grader.checks import Checks

mask_maker = Checks("attention_mask")
attention = Checks("masked_attention")


def inputs(given, batch=2, queries=3, keys=5, dim=7, value_dim=4):
    """query [batch, queries, dim], key [batch, keys, dim], value [batch, keys, value_dim]."""
    return (
        given.vectors("query", batch, queries, dim),
        given.vectors("key", batch, keys, dim),
        given.normal("value", batch, keys, value_dim),
    )


def ragged_mask():
    """[2, 3, 5]: no two rows alike, none empty, one full; the samples differ."""
    return torch.tensor(
        [
            [[1, 0, 1, 1, 0], [0, 1, 0, 0, 0], [1, 1, 1, 1, 1]],
            [[0, 0, 1, 0, 1], [1, 0, 0, 1, 1], [0, 1, 1, 0, 0]],
        ],
        dtype=torch.bool,
    )


# --- attention_mask ---------------------------------------------------------------------------------------------


@mask_maker.check(points=1, hint="a Boolean tensor, where True means: may attend")
def test_mask_is_boolean(student):
    """The mask has dtype torch.bool, with and without restrictions."""
    student(3, 4).has_dtype(torch.bool)
    student(3, 3, is_causal=True).has_dtype(torch.bool)
    student(3, 3, torch.tensor([3, 1, 2])).has_dtype(torch.bool)


@mask_maker.check(points=1, hint="what may a query see when nothing is forbidden?")
def test_mask_without_restrictions_allows_everything(student, given):
    """Neither lengths nor causality given: every query may attend to every key."""
    student(3, 5).matches_mask(1, 3, 5)
    queries, keys = given.whole("queries", 4, 9), given.whole("keys", 10, 20)
    student(queries, keys).matches_mask(1, queries, keys)


@mask_maker.check(points=2.5, hint="query 0 sees key 0 only, the last query sees all of them")
def test_causal_mask_of_three_positions(student, given):
    """A causal query attends to its own position and to earlier ones; with more positions too."""
    student(3, 3, is_causal=True).matches_mask(1, 3, 3)
    size = given.whole("positions", 6, 20)
    student(size, size, is_causal=True).matches_mask(1, size, size)


@mask_maker.check(points=2, hint="positions are counted from the start of both sequences, whatever their lengths")
def test_causal_mask_is_aligned_top_left(student, given):
    """With unequal lengths too, query 0 sees key 0 only."""
    student(3, 5, is_causal=True).matches_mask(1, 3, 5)
    student(5, 3, is_causal=True).matches_mask(1, 5, 3)
    student(1, 4, is_causal=True).matches_mask(1, 1, 4)
    keys = given.whole("keys", 30, 39)
    student(40, keys, is_causal=True).matches_mask(1, 40, keys)


@mask_maker.check(points=2.5, hint="the lengths count keys: which axis do they belong to, and what does True mean?")
def test_padding_mask_hides_keys_beyond_each_length(student, given):
    """Each sample hides its own padding, for all of its queries; one sample has none."""
    answer = student(3, 5, torch.tensor([5, 2, 4, 1]))
    answer.matches_mask(4, 3, 5)
    student(3, 5, torch.tensor([3, 2])).matches_mask(2, 3, 5)
    student(4, 9, given.lengths("key_lengths", 6, 9)).matches_mask(6, 4, 9)
    answer.leaves_inputs_unchanged()


# --- masked_attention -------------------------------------------------------------------------------------------


@attention.check(points=1.5, hint="without a mask this is the function of single_head.py")
def test_output_without_a_mask(student, given):
    """No mask: ordinary attention."""
    answer = student(*inputs(given))
    answer.has_form()
    answer.matches("output")


@attention.check(points=1.5, hint="do this one with pencil and paper: what are three equal scores after the softmax?")
def test_worked_example_with_a_causal_mask(student, given):
    """All scores 0, values 2, 4, 8, causal: the outputs are 2, 3 and 14/3. With other values, other means."""
    zeros = torch.zeros(1, 3, 1, dtype=torch.float64)
    value = torch.tensor([[[2.0], [4.0], [8.0]]], dtype=torch.float64)
    mask = torch.ones(1, 3, 3, dtype=torch.bool).tril()
    answer = student(zeros, zeros.clone(), value, mask)
    answer.holds(
        "the outputs are 2, 3 and 14/3",
        answer.value("output").flatten(),
        torch.tensor([2, 3, 14 / 3], dtype=torch.float64),
        of="output",
        axes=("query",),
    )
    student(zeros, zeros.clone(), given.normal("value", 1, 3, 1), mask.clone()).matches("output")


@attention.check(points=2, hint="True means: may attend. Where in the computation must a forbidden key disappear?")
def test_output_with_a_boolean_mask(student, given):
    """A Boolean mask, different for each sample."""
    student(*inputs(given), ragged_mask(), gradients=True).matches("output")


@attention.check(points=2, hint="a softmax turns which score into exactly 0?")
def test_forbidden_weights_are_exactly_zero(student, given):
    """Forbidden weights are 0 to the last bit, and the allowed ones are right, for Boolean and floating masks."""
    bias = given.normal("mask", 2, 3, 5).masked_fill(~ragged_mask(), -math.inf)
    for answer in (student(*inputs(given), ragged_mask(), gradients=True), student(*inputs(given), bias)):
        answer.matches("weights")
        forbidden = answer.value("weights")[~ragged_mask()]
        zeros = torch.zeros_like(forbidden)
        answer.holds("a forbidden weight is exactly 0", forbidden, zeros, of="forbidden weights", exactly=True)


@attention.check(points=2, hint="a floating mask is neither Boolean nor a factor")
def test_floating_mask_is_added_to_the_scores(student, given):
    """Finite biases shift the scores; -inf forbids."""
    query, key, value = inputs(given)
    bias = given.normal("mask", 2, 3, 5)
    student(query, key, value, bias).matches("output")
    student(query, key, value, bias.masked_fill(~ragged_mask(), -math.inf)).matches("output")
    bias[0, 1], query[0, 1] = -1e4, 0  # low, and the same for all keys, but none is forbidden
    student(query, key, value, bias).matches("output")


@attention.check(points=1.5, hint="a mask may have fewer axes, or axes of length 1")
def test_masks_are_broadcast(student, given):
    """Masks of shape [S], [L, S], [1, L, S] and [B, 1, S], Boolean or floating, hold for all samples or queries."""
    query, key, value = inputs(given)
    student(query, key, value, ragged_mask()[0]).matches("output")
    student(query, key, value, ragged_mask()[1:]).matches("output")
    student(query, key, value, ragged_mask()[:, :1]).matches("output")
    student(query, key, value, ragged_mask()[0, 0]).matches("output")
    student(query, key, value, given.normal("mask", 3, 5)).matches("output")
    student(query, key, value, given.normal("mask", 1, 3, 5)).matches("output")
    student(query, key, value, given.normal("mask", 1, 5)).matches("output")


@attention.check(points=1.5, hint="is the number that you write over a forbidden score lower than every real score?")
def test_very_low_scores_are_still_above_forbidden_ones(student, given):
    """Allowed scores lie between -1e5 and -2e4, and forbidden keys stay out all the same."""
    direction = torch.tensor([-1.0, 0, 0, 0, 0], dtype=torch.float64)
    levels = torch.tensor([4.5e4, 2.2e4, 9.7e4, 3.1e4, 6.8e4], dtype=torch.float64)
    key = (levels[:, None] * torch.tensor([math.sqrt(5), 0, 0, 0, 0], dtype=torch.float64)).repeat(2, 1, 1)
    query, value = direction.repeat(2, 3, 1), given.normal("value", 2, 5, 4)
    student(query, key, value, ragged_mask()).matches("output")
    student(query, key, value, torch.zeros(2, 3, 5).double().masked_fill(~ragged_mask(), -math.inf)).matches("output")


@attention.check(
    points=1,
    requires="output_with_a_boolean_mask",
    hint="gradients must reach all three inputs through the mask",
)
def test_gradients_with_a_mask(student, given):
    """The gradients that flow back to the three inputs are right, with a Boolean and with a floating mask."""
    student(*inputs(given), ragged_mask(), gradients=True).gradients_match("query", "key", "value")
    bias = given.normal("mask", 2, 3, 5).masked_fill(~ragged_mask(), -math.inf)
    student(*inputs(given), bias, gradients=True).gradients_match("query", "key", "value")


@attention.check(
    points=1,
    requires="output_with_a_boolean_mask",
    hint="look at one row of the mask: what if nothing in it is True?",
)
def test_query_with_nothing_allowed_raises(student, given):
    """A Boolean mask that leaves a query nothing to attend to is a ValueError."""
    mask = ragged_mask()
    mask[1, 2] = False
    for empty in (mask, mask[1], mask[1:, 2:]):
        student.raises(ValueError, *inputs(given), empty, when="a query may attend to nothing")


@attention.check(points=1, requires="output_with_a_boolean_mask", hint="a floating mask can forbid a whole row too")
def test_query_with_only_minus_infinity_raises(student, given):
    """A floating mask whose row is -inf throughout is a ValueError."""
    mask = torch.zeros(1, 3, 5, dtype=torch.float64)
    mask[0, 1] = -math.inf
    student.raises(ValueError, *inputs(given), mask, when="a query may attend to nothing")


@attention.check(points=0.5, hint="make new tensors with the dtype of an input, for example query.new_zeros(...)")
def test_output_has_the_dtype_of_the_inputs(student, given):
    """float64 in, float64 out; float32 in, float32 out."""
    query, key, value = inputs(given)
    student(query, key, value, ragged_mask(), dtype="float32").has_dtype(torch.float64)
    answer = student(query.float(), key.float(), value.float(), ragged_mask(), dtype="float32")
    answer.has_dtype(torch.float32)
    answer.matches("output")


@attention.check(
    points=0.5,
    requires="output_with_a_boolean_mask",
    hint="look for &=, += and functions ending in _ on an argument",
)
def test_inputs_and_masks_are_left_unchanged(student, given):
    """The caller's tensors and masks are the same after the call."""
    student(*inputs(given), ragged_mask(), gradients=True).leaves_inputs_unchanged()
    bias = given.normal("mask", 2, 3, 5).masked_fill(~ragged_mask(), -math.inf)
    student(*inputs(given), bias).leaves_inputs_unchanged()
