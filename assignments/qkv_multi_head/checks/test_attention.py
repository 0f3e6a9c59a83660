"""Visible checks of attention.py, most of them against torch.nn.MultiheadAttention with the same weights.

In padding_mask, True means padding: nobody attends to this token. Token 0 is always real.
"""

import math

import torch

from grader.checks import Checks

attention = Checks("MultiHeadSelfAttention")


def tokens(given, batch=3, length=5, d_model=8):
    """A batch of sequences, [batch, length, d_model]."""
    return given.vectors("x", batch, length, d_model, length=2.0)


def padding():
    """[3, 5], True = padding: two at the end, none, one between tokens and one at the end."""
    return torch.tensor([[0, 0, 0, 1, 1], [0, 0, 0, 0, 0], [0, 1, 0, 0, 1]], dtype=torch.bool)


def averaging():
    """Layers of width 1 that make every score 0: a token's output is the mean of what it may attend to."""
    return {
        "qkv.weight": torch.tensor([[0.0], [0.0], [1.0]], dtype=torch.float64),
        "out.weight": torch.tensor([[1.0]], dtype=torch.float64),
    }


@attention.check(
    points=4, hint="two nn.Linear without bias, qkv and out, of the sizes of the handout, and nothing else"
)
def test_module_has_qkv_and_out_without_bias(student, given):
    """The parameters are qkv.weight and out.weight, and no others."""
    student.build(given=given, d_model=8, n_heads=2).has_its_parameters(tokens(given))


@attention.check(points=2, hint="a pair comes back: output [B, T, d_model], weights [B, H, T, T]")
def test_output_and_weights_have_the_stated_shapes(student, given):
    """A tuple of two tensors, the weights with an axis for the heads."""
    student.build(given=given, d_model=8, n_heads=2)(tokens(given), gradients=True).has_form()


@attention.check(points=9, hint="which rows of qkv are the query, and which elements of a vector belong to which head?")
def test_output_without_padding(student, given):
    """Three samples of five tokens, two heads."""
    student.build(given=given, d_model=8, n_heads=2)(tokens(given), gradients=True).matches("output", source="library")


@attention.check(points=5, hint="one matrix of weights per head, as the softmax gives it")
def test_weights_without_padding(student, given):
    """The weights of each head, for the same call."""
    student.build(given=given, d_model=8, n_heads=2)(tokens(given), gradients=True).matches("weights", source="library")


@attention.check(
    points=2, requires="weights_without_padding", hint="is anything done to the weights behind the softmax?"
)
def test_each_row_of_weights_sums_to_one(student, given):
    """What is left after masking still sums to 1, in every head, with padding and without."""
    for mask in (None, padding()):
        answer = student.build(given=given, d_model=8, n_heads=2)(tokens(given), mask, gradients=True)
        sums = answer.value("weights").sum(dim=-1)
        answer.holds(
            "each row of weights sums to 1",
            sums,
            torch.ones_like(sums),
            of="row sums of weights",
            axes=("batch", "head", "query"),
        )


@attention.check(points=4, hint="the first token sees itself only, the second one two tokens, the third one three")
def test_worked_example_of_the_causal_rule(student):
    """All scores are 0: the outputs are the means of 2, of 2 and 4, of 2, 4 and 9."""
    x = torch.tensor([[[2.0], [4.0], [9.0]]], dtype=torch.float64)
    answer = student.build(parameters=averaging(), d_model=1, n_heads=1)(x)
    answer.matches("output", source="library")


@attention.check(
    points=4, requires="output_without_padding", hint="what does a token see that comes before the change?"
)
def test_later_tokens_change_nothing_earlier(student, given):
    """Tokens 3 and 4 become others: the outputs of tokens 0, 1 and 2 stay."""
    x = tokens(given)
    changed = torch.cat([x[:, :3], given.vectors("other", 3, 2, 8, length=2.0)], dim=1)
    before, after = (student.build(given=given, d_model=8, n_heads=2)(one) for one in (x, changed))
    after.holds(
        "later tokens change nothing at earlier ones",
        after.value("output")[:, :3],
        before.value("output")[:, :3],
        of="output",
        axes=("batch", "query", "dim"),
    )


@attention.check(points=3, requires="weights_without_padding", hint="exp(-inf) is 0, exp of a small number is not")
def test_weights_of_later_keys_are_exactly_zero(student, given):
    """Above the diagonal of every matrix of weights stands 0, and nothing that is merely small."""
    answer = student.build(given=given, d_model=8, n_heads=2)(tokens(given), gradients=True)
    later = answer.value("weights").triu(diagonal=1)
    answer.holds(
        "a later key has the weight 0",
        later,
        torch.zeros_like(later),
        of="weights above the diagonal",
        axes=("batch", "head", "query", "key"),
        exactly=True,
    )


@attention.check(points=4, hint="what in the formula depends on the width of one head?")
def test_one_head_and_four_heads(student, given):
    """H = 1 and H = 4; the width of a head is d_model / H."""
    for heads, x in ((1, tokens(given, d_model=6)), (4, tokens(given, batch=2, d_model=12))):
        answer = student.build(given=given, d_model=x.shape[2], n_heads=heads)(x)
        answer.matches("output", "weights", source="library")


@attention.check(points=3, hint="what do B = 1 and T = 1 do to an axis that you squeeze, or forget?")
def test_one_sample_and_one_token(student, given):
    """A batch of one sample, and a sequence of one token, are ordinary inputs."""
    for sizes in ({"batch": 1}, {"length": 1}):
        answer = student.build(given=given, d_model=8, n_heads=2)(tokens(given, **sizes))
        answer.has_form()
        answer.matches("output", "weights", source="library")


@attention.check(
    points=7, hint="True means padding; a key must pass both rules, the causal one and that of the padding"
)
def test_output_with_padding(student, given):
    """Padding at the end and between tokens, with values that are a thousand times as large there."""
    x = tokens(given)
    x[padding()] *= 1e3
    x[0, 4] = 0  # what is padding is said by the mask, and not by the tokens
    student.build(given=given, d_model=8, n_heads=2)(x, padding_mask=padding()).matches("output", source="library")


@attention.check(points=4, hint="which axis of the weights belongs to the keys?")
def test_weights_with_padding(student, given):
    """Padded keys have the weight 0 in every head, and the others share what there is."""
    answer = student.build(given=given, d_model=8, n_heads=2)(tokens(given), padding(), gradients=True)
    answer.matches("weights", source="library")


@attention.check(points=5, hint="the mask is about keys: to which axis of the scores [B, H, T, T] does its T belong?")
def test_padding_mask_of_two_valid_tokens_is_about_keys(student):
    """All scores are 0 and two of three tokens are valid: the third row, a padded query, is the mean of 2 and 4."""
    x = torch.tensor([[[2.0], [4.0], [9.0]]], dtype=torch.float64)
    mask = torch.tensor([[False, False, True]])
    answer = student.build(parameters=averaging(), d_model=1, n_heads=1)(x, mask)
    answer.matches("output", "weights", source="library")


@attention.check(
    points=3, requires="output_with_padding", hint="may any real token see a padded one, even one in its past?"
)
def test_padded_tokens_change_nothing_at_real_ones(student, given):
    """The padded tokens become others: the outputs of the real ones stay."""
    x, real = tokens(given), ~padding()
    changed = torch.where(real[..., None], x, given.vectors("other", 3, 5, 8, length=2.0))
    before, after = (student.build(given=given, d_model=8, n_heads=2)(one, padding()) for one in (x, changed))
    after.holds(
        "padded tokens change nothing at real ones",
        after.value("output")[real],
        before.value("output")[real],
        of="output of the real tokens",
        axes=("token", "dim"),
    )


@attention.check(points=5, hint="x acts on the output three times: as query, as key and as value")
def test_gradients_of_x(student, given):
    """The gradient that flows back to x is right, without padding and with it."""
    for mask in (None, padding()):
        answer = student.build(given=given, d_model=8, n_heads=2)(tokens(given), mask, gradients=True)
        answer.gradients_match("x", source="library")


@attention.check(points=4, hint="does every row of qkv act on the output?")
def test_gradients_of_qkv_and_out(student, given):
    """The gradients that flow back to the weights of the two layers are right."""
    answer = student.build(given=given, d_model=8, n_heads=2)(tokens(given), padding(), gradients=True)
    answer.gradients_match("x", "parameters", source="library")


@attention.check(
    points=3, hint="can a score be too large for exp(), or lower than the number written over forbidden ones?"
)
def test_extreme_scores(student):
    """Scores of up to 2400, then of down to -48000, give weights of 0 and 1, masked as others."""
    heights = torch.tensor([3.0, 1.0, 4.0, 0.0, 2.0], dtype=torch.float64)
    x = torch.arange(6, dtype=torch.float64).repeat(3, 5, 1)
    x[:, :, 0] = x[:, :, 3] = heights  # the first element of each of two heads: all that queries and keys are made of
    identity, first = torch.eye(6, dtype=torch.float64), torch.diag(torch.tensor([1.0, 0, 0, 1, 0, 0]).double())
    for factor in (150, -3000):
        weight = torch.cat([factor * math.sqrt(3) * first, first, identity])
        module = student.build(parameters={"qkv.weight": weight, "out.weight": identity}, d_model=6, n_heads=2)
        module(x, padding()).matches("output", "weights", source="library")


@attention.check(
    points=2, requires="output_and_weights_have_the_stated_shapes", hint="how many numbers would each head get?"
)
def test_width_not_divisible_by_heads_raises(student):
    """d_model=6 cannot be shared out among 4 heads: a ValueError."""
    student.build_raises(ValueError, d_model=6, n_heads=4, when="d_model is not divisible by n_heads")


@attention.check(points=1, requires="output_without_padding", hint="nothing in this module is random")
def test_training_and_evaluation_agree(student, given):
    """The same inputs give the same output and weights in train() and in eval()."""
    evaluated, trained = (
        student.build(given=given, d_model=8, n_heads=2)(tokens(given), padding(), mode=mode)
        for mode in ("eval", "train")
    )
    for name in ("output", "weights"):
        trained.holds(f"train() and eval() give the same {name}", trained.value(name), evaluated.value(name), of=name)


@attention.check(points=2, hint="make new tensors with the dtype of x, for example x.new_zeros(...)")
def test_output_has_the_dtype_of_x(student, given):
    """float32 in, float32 out; after .double(), float64 in, float64 out."""
    module = student.build(given=given, d_model=8, n_heads=2)
    module(tokens(given).float(), padding(), dtype="float32").has_dtype(torch.float32)
    module = student.build(given=given, d_model=8, n_heads=2)
    module(tokens(given), padding(), dtype="float32", is_double=True).has_dtype(torch.float64)


@attention.check(
    points=2, requires="output_with_padding", hint="look for &=, |=, += and functions ending in _ on an argument"
)
def test_x_and_the_mask_are_left_unchanged(student, given):
    """The caller's tokens and mask are the same after the call."""
    module = student.build(given=given, d_model=8, n_heads=2)
    module(tokens(given), padding(), gradients=True).leaves_inputs_unchanged()
