"""Visible checks of attention.py. True in a mask means: this query may attend to this key."""

import math

import torch
import torch.nn.functional as F
from torch.func import functional_call

from grader.checks import Checks

attention = Checks("scaled_dot_product_attention")
causal = Checks("causal_mask")
padding = Checks("key_padding_mask")
to_multihead = Checks("to_multihead_mask")
to_sdpa = Checks("to_sdpa_mask")
module = Checks("Attention")


def inputs(given, batch=2, queries=3, keys=5, dim=7, value_dim=4):
    """query [batch, queries, dim], key [batch, keys, dim], value [batch, keys, value_dim]."""
    return (
        given.vectors("query", batch, queries, dim),
        given.vectors("key", batch, keys, dim),
        given.normal("value", batch, keys, value_dim),
    )


def ragged():
    """[2, 3, 5]: no two rows alike, none empty, one full; the samples differ."""
    return torch.tensor(
        [
            [[1, 0, 1, 1, 0], [0, 1, 0, 0, 0], [1, 1, 1, 1, 1]],
            [[0, 0, 1, 0, 1], [1, 0, 0, 1, 1], [0, 1, 1, 0, 0]],
        ],
        dtype=torch.bool,
    )


# --- scaled_dot_product_attention -------------------------------------------------------------------------------


@attention.check(points=1, hint="read the shapes in the docstring once more: how many queries, of which width?")
def test_output_and_weights_have_the_stated_shapes(student, given):
    """A pair of tensors comes back, [B, L, Dv] and [B, L, S]."""
    student(*inputs(given), gradients=True).has_form()


@attention.check(points=6, hint="work through the formula with pencil and paper, for two queries and three keys")
def test_output_of_cross_attention(student, given):
    """Three queries attend to five keys, whose values have another width. More queries than keys, too."""
    answer = student(*inputs(given), gradients=True)
    answer.matches("output")
    answer.matches("output", source="library")
    student(*inputs(given, queries=6, keys=4, dim=3, value_dim=8)).matches("output")


@attention.check(points=2, hint="which axis of the weights belongs to the keys, and what do they sum to along it?")
def test_weights_of_cross_attention(student, given):
    """Each row is a softmax over the keys."""
    student(*inputs(given), gradients=True).matches("weights")
    student(*inputs(given, batch=1, queries=1, keys=1)).matches("weights")


@attention.check(points=5, hint="True means: may attend. Where in the computation must a forbidden key disappear?")
def test_output_under_a_mask(student, given):
    """A mask that is different for each sample."""
    answer = student(*inputs(given), ragged(), gradients=True)
    answer.matches("output")
    answer.matches("output", source="library")


@attention.check(points=2.5, hint="a softmax turns which score into exactly 0, however low the others are?")
def test_forbidden_weights_are_exactly_zero(student, given):
    """Forbidden weights are 0 to the last bit, the others are right; also where all scores lie far below 0."""
    direction = torch.tensor([-1.0, 0, 0, 0, 0], dtype=torch.float64)
    levels = torch.tensor([4.5e4, 2.2e4, 9.7e4, 3.1e4, 6.8e4], dtype=torch.float64)
    low_key = (levels[:, None] * torch.tensor([math.sqrt(5), 0, 0, 0, 0], dtype=torch.float64)).repeat(2, 1, 1)
    low_query, value = direction.repeat(2, 3, 1), given.normal("value", 2, 5, 4)
    for answer in (
        student(*inputs(given), ragged(), gradients=True),
        student(low_query, low_key, value, ragged()),
        student(low_query, low_key / 50, value, ragged()),
    ):
        answer.matches("weights")
        forbidden = answer.value("weights")[~ragged()]
        zeros = torch.zeros_like(forbidden)
        answer.holds("a forbidden weight is exactly 0", forbidden, zeros, of="forbidden weights", exactly=True)


@attention.check(points=2, hint="a mask may have fewer axes, or axes of length 1")
def test_masks_are_broadcast(student, given):
    """Masks of shape [S], [L, S], [1, L, S] and [B, 1, S] hold for all samples, or for all queries."""
    for mask in (ragged()[0, 0], ragged()[0], ragged()[1:], ragged()[:, :1]):
        student(*inputs(given), mask).matches("output")


@attention.check(
    points=2.5,
    requires="output_of_cross_attention",
    hint="is every step between the inputs and the output one that autograd can walk back?",
)
def test_gradients_of_query_key_and_value(student, given):
    """The gradients that flow back to the three inputs are right, without a mask and with one."""
    student(*inputs(given), gradients=True).gradients_match("query", "key", "value")
    student(*inputs(given), ragged(), gradients=True).gradients_match("query", "key", "value")


@attention.check(
    points=1, requires="output_of_cross_attention", hint="how many axes does the task give query, key and value?"
)
def test_wrong_number_of_axes_raises(student, given):
    """Sequences without a batch axis, and tensors with an axis for heads, are a ValueError; also one of three alone."""
    query, key, value = inputs(given, queries=5)  # as many as keys: no other rule is broken
    when = "query, key or value has not three axes"
    student.raises(ValueError, query[0], key[0], value[0], when=when)
    student.raises(ValueError, query[None], key[None], value[None], when=when)
    student.raises(ValueError, query[0], key, value, when=when)
    student.raises(ValueError, query, key, value[0], when=when)


@attention.check(
    points=1,
    requires="output_of_cross_attention",
    hint="what do products of tensors do with an axis of length 1, and does the task want that?",
)
def test_different_numbers_of_samples_raise(student, given):
    """Two samples of queries and one of keys, and one of queries and two of keys; values of one sample alone."""
    query, key, value = inputs(given)
    when = "query, key and value have different numbers of samples"
    student.raises(ValueError, query, key[:1], value[:1], when=when)
    student.raises(ValueError, query[:1], key, value, when=when)
    student.raises(ValueError, query, key, value[:1], when=when)


@attention.check(
    points=1, requires="output_of_cross_attention", hint="which sizes must be equal, for both products to exist?"
)
def test_widths_and_lengths_that_do_not_fit_raise(student, given):
    """Query and key of different widths, and more or fewer values than keys, are a ValueError."""
    query, key, value = inputs(given)
    student.raises(ValueError, query[:, :, :6], key, value, when="query and key are of different widths")
    student.raises(ValueError, query, key, value[:, :4], when="there are fewer values than keys")
    student.raises(ValueError, query, key[:, :1], value, when="there are more values than keys")


@attention.check(
    points=1.5,
    requires="output_under_a_mask",
    hint="what does ~ make of the integer 1? Which class of error does the task name for such a mask?",
)
def test_mask_that_is_not_boolean_raises(student, given):
    """Ones and zeros, as integers or floating, are a TypeError."""
    for dtype in (torch.int64, torch.uint8, torch.float64):
        student.raises(TypeError, *inputs(given), ragged().to(dtype), when="the mask is not Boolean")


@attention.check(points=1.5, requires="output_under_a_mask", hint="what if nothing in a row of the mask is True?")
def test_query_with_nothing_allowed_raises(student, given):
    """A mask that leaves one query of one sample nothing to attend to is a ValueError, broadcast or not."""
    mask = ragged()
    mask[1, 2] = False
    for empty in (mask, mask[1], mask[1, 2]):
        student.raises(ValueError, *inputs(given), empty, when="a query may attend to nothing")


@attention.check(
    points=1.5,
    requires="output_of_cross_attention",
    hint="the rule speaks of scores, not of inputs: which finite numbers have a product that is not finite?",
)
def test_scores_that_are_not_finite_raise(student, given):
    """NaN or infinity in a query or key, forbidden or not, and products that overflow, are a ValueError."""
    query, key, value = inputs(given)
    odd_query, odd_key = query.clone(), key.clone()
    odd_query[1, 2, 3], odd_key[0, 4, 1] = math.nan, math.inf
    student.raises(ValueError, odd_query, key, value, when="a score is NaN")
    student.raises(ValueError, query, odd_key, value, when="a score is infinite")
    mask = torch.ones(3, 5, dtype=torch.bool)
    mask[:, 4] = False
    student.raises(ValueError, query, odd_key, value, mask, when="a score is infinite, that of a forbidden key")
    large_query, large_key = torch.zeros_like(query), torch.zeros_like(key)
    large_query[0, 1, 2] = large_key[0, 3, 2] = 1e200
    student.raises(ValueError, large_query, large_key, value, when="a score is infinite, though no input is")


@attention.check(points=1, requires="output_under_a_mask", hint="look for &=, += and names ending in _ on an argument")
def test_inputs_and_mask_are_left_unchanged(student, given):
    """The caller's tensors and mask are the same after the call."""
    student(*inputs(given), ragged(), gradients=True).leaves_inputs_unchanged()


@attention.check(points=1, hint="make new tensors with the dtype of an input, for example query.new_zeros(...)")
def test_output_has_the_dtype_of_the_inputs(student, given):
    """float64 in, float64 out; float32 in, float32 out."""
    query, key, value = inputs(given)
    student(query, key, value, ragged(), dtype="float32").has_dtype(torch.float64)
    answer = student(query.float(), key.float(), value.float(), ragged(), dtype="float32")
    answer.has_dtype(torch.float32)
    answer.matches("output")


# --- masks ------------------------------------------------------------------------------------------------------


@causal.check(points=3.5, hint="how many keys does the first position see, and how many the last?")
def test_causal_mask_shows_earlier_positions(student, given):
    """Position i sees positions 0 to i, and the mask is Boolean."""
    for answer in (student(3), student(1), student(given.whole("positions", 6, 20))):
        answer.matches()
        answer.has_dtype(torch.bool)


@padding.check(points=3.5, hint="which positions are real in a sample of length 1, and which axis counts keys?")
def test_padding_mask_shows_real_keys(student, given):
    """Each sample shows its own real keys to all of its queries; one sample has no padding."""
    for answer in (student(torch.tensor([5, 2, 4, 1]), 5), student(given.lengths("lengths", 6, 9), 9)):
        answer.matches()
        answer.has_dtype(torch.bool)
        answer.leaves_inputs_unchanged()


def weights_of_the_library(given, mask, batch, queries, keys, dim, heads):
    """What nn.MultiheadAttention gives each key of each query under a mask: [batch, head, query, key]."""
    names = {"in_proj_weight": (3 * dim, dim), "in_proj_bias": (3 * dim,), "out_proj.weight": (dim, dim)}
    library = torch.nn.MultiheadAttention(dim, heads, batch_first=True, device="meta").eval()
    query, key = given.vectors("query", batch, queries, dim), given.vectors("key", batch, keys, dim)
    options = {"attn_mask": mask, "average_attn_weights": False}
    parameters = given.parameters(names | {"out_proj.bias": (dim,)})
    return functional_call(library, parameters, (query, key, key), options)[1]


@to_multihead.check(points=3, hint="which keys does nn.MultiheadAttention leave out: those with True, or the others?")
def test_multihead_mask_works_in_the_library(student, given):
    """nn.MultiheadAttention gives weight to allowed keys and to no others, with one head and more. The shape stays."""
    for allowed, heads in ((ragged()[0], 2), (ragged(), 1), (ragged(), 3)):
        answer = student(allowed)
        mask = answer.value("mask")
        mask = mask.repeat_interleave(heads, dim=0) if mask.ndim == 3 else mask
        seen = weights_of_the_library(given, mask, batch=2, queries=3, keys=5, dim=6, heads=heads) > 0
        answer.holds(
            "nn.MultiheadAttention gives weight to the allowed keys and to no others",
            seen,
            allowed[:, None].expand(seen.shape) if allowed.ndim == 3 else allowed.expand(seen.shape),
            of="keys with a weight",
            axes=("batch", "head", "query", "key"),
            exactly=True,
        )
        answer.matches()
        answer.has_dtype(torch.bool)


@to_multihead.check(points=1.5, requires="multihead_mask_works_in_the_library", hint="what is ~ of the integer 1?")
def test_multihead_mask_refuses_numbers_and_changes_nothing(student):
    """Numbers are a TypeError; the caller's mask is the same after the call."""
    student(ragged()).leaves_inputs_unchanged()
    for dtype in (torch.int64, torch.float64):
        student.raises(TypeError, ragged().to(dtype), when="the mask is not Boolean")


@to_sdpa.check(points=2.5, hint="which keys take part in the library's function: those with True, or the others?")
def test_sdpa_mask_works_in_the_library(student, given):
    """The shape stays. F.scaled_dot_product_attention gives weight to the allowed keys and to no others."""
    query, key, _ = inputs(given)
    for allowed in (ragged()[0], ragged()):
        answer = student(allowed)
        each_key = torch.eye(5, dtype=torch.float64).expand(2, 5, 5)  # with these values the output is the weights
        seen = F.scaled_dot_product_attention(query, key, each_key, attn_mask=answer.value("mask")) > 0
        answer.holds(
            "F.scaled_dot_product_attention gives weight to the allowed keys and to no others",
            seen,
            allowed.expand(seen.shape),
            of="keys with a weight",
            axes=("batch", "query", "key"),
            exactly=True,
        )
        answer.matches()
        answer.has_dtype(torch.bool)


@to_sdpa.check(points=1, requires="sdpa_mask_works_in_the_library", hint="which error is asked for other masks?")
def test_sdpa_mask_refuses_numbers_and_changes_nothing(student):
    """Numbers are a TypeError; the caller's mask is the same after the call."""
    student(ragged()).leaves_inputs_unchanged()
    for dtype in (torch.int64, torch.float64):
        student.raises(TypeError, ragged().to(dtype), when="the mask is not Boolean")


# --- Attention --------------------------------------------------------------------------------------------------


@module.check(points=3, hint="what do self.training, and the module's eval(), have to do with dropout?")
def test_module_in_evaluation_is_the_function(student, given):
    """Nothing is dropped in evaluation, whatever the probability; the gradients are those of the function."""
    answer = student.build(parameters={}, dropout=0.4)(*inputs(given), ragged(), gradients=True)
    answer.matches()
    answer.gradients_match("query", "key", "value")
    student.build(parameters={}, dropout=0.4)(*inputs(given)).matches()


@module.check(points=1.5, hint="what is a weight divided by when nothing is dropped?")
def test_module_without_dropout_is_the_function_in_training_too(student, given):
    """A probability of 0, given or not, drops nothing."""
    student.build(parameters={})(*inputs(given), ragged(), mode="train").matches()
    student.build(parameters={}, dropout=0.0)(*inputs(given), mode="train").matches()


def trained(student, given, allowed=None):
    """An answer in training with many weights, a quarter of them dropped."""
    sizes = {"batch": 3, "queries": 20, "keys": 30, "dim": 5, "value_dim": 4}
    return student.build(parameters={}, dropout=0.25)(*inputs(given, **sizes), allowed, mode="train", is_random=True)


@module.check(
    points=3,
    requires="module_in_evaluation_is_the_function",
    hint="what is dropped: scores, weights or outputs? And by what are those divided that stay?",
)
def test_module_in_training_drops_weights(student, given):
    """Of 1800 weights about a quarter is 0; the others are divided by 3/4, so that their mean stays."""
    query, key, value = inputs(given, batch=3, queries=20, keys=30, dim=5, value_dim=4)
    before = student.build(parameters={}, dropout=0.25)(query, key, value).value("weights")
    answer = trained(student, given)
    after = answer.value("weights")
    stays = after != 0
    dropped = int((~stays).sum())
    answer.shows("about a quarter of the weights is dropped: of 1800, between 324 and 576", 324 <= dropped <= 576)
    answer.holds(
        "a weight that stays is divided by 1 - dropout",
        after,
        torch.where(stays, before / 0.75, 0),
        of="weights in training",
        axes=("batch", "query", "key"),
    )


@module.check(
    points=1.5,
    requires="module_in_evaluation_is_the_function",
    hint="are the weights that you return those that the output was made of?",
)
def test_module_in_training_returns_the_weights_it_used(student, given):
    """The output is the product of the returned weights and the values, under a mask, too."""
    allowed = torch.ones(20, 30, dtype=torch.bool).tril(12)
    answer = trained(student, given, allowed)
    weights, value = answer.value("weights"), given.normal("value", 3, 30, 4)
    answer.holds(
        "the output is made of the weights that are returned",
        answer.value("output"),
        weights @ value,
        of="output in training",
        axes=("batch", "query", "value dim"),
    )
