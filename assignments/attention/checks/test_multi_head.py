"""Visible checks of multi_head.py, most of them against torch.nn.MultiheadAttention with the same weights.

In key_padding_mask, True means padding: this key is ignored.
"""

import math

import torch

from grader.checks import Checks

attention = Checks("MultiHeadAttention")


def inputs(given, batch=3, queries=4, keys=5, d_model=6):
    """Three unrelated inputs: query [batch, queries, d_model], key and value [batch, keys, d_model]."""
    return (
        given.vectors("query", batch, queries, d_model, length=1.5),
        given.vectors("key", batch, keys, d_model, length=1.5),
        given.vectors("value", batch, keys, d_model, length=1.5),
    )


def padding():
    """[3, 5], True = padding. Key 0 is always real, one sample has no padding, one has a gap."""
    return torch.tensor([[0, 0, 0, 1, 1], [0, 0, 0, 0, 0], [0, 1, 0, 0, 1]], dtype=torch.bool)


@attention.check(points=2, hint="four nn.Linear from d_model to d_model, with the names of the handout")
def test_module_has_four_projections(student, given):
    """The parameters are those of q_proj, k_proj, v_proj and out_proj, and no others."""
    student.build(given=given, d_model=6, n_heads=2).has_its_parameters(*inputs(given))


@attention.check(points=3, hint="after the split each head must hold its own slice of every position's vector")
def test_self_attention_output(student, given):
    """One tensor is query, key and value."""
    sequence = given.vectors("sequence", 3, 4, 6, length=1.5)
    answer = student.build(given=given, d_model=6, n_heads=2)(sequence, sequence, sequence)
    answer.matches("output", source="library")


@attention.check(points=4, hint="which projection belongs to which input, and whose length does each axis have?")
def test_cross_attention_output(student, given):
    """Query, key and value are unrelated, and there are more keys than queries."""
    student.build(given=given, d_model=6, n_heads=2)(*inputs(given), gradients=True).matches("output", source="library")


@attention.check(points=2.5, hint="one matrix of weights per head, not their mean")
def test_weights_of_each_head(student, given):
    """The weights are the second value, have an axis for the heads, and are right for each of them, masked or not."""
    answer = student.build(given=given, d_model=6, n_heads=2)(*inputs(given), gradients=True)
    answer.has_form()
    answer.matches("weights", source="library")
    module = student.build(given=given, d_model=6, n_heads=2)
    module(*inputs(given), key_padding_mask=padding(), is_causal=True).matches("weights", source="library")


@attention.check(points=3, hint="what in the formula depends on the width of one head?")
def test_one_head_and_four_heads(student, given):
    """H = 1 and H = 4; the width of a head is d_model / H."""
    student.build(given=given, d_model=6, n_heads=1)(*inputs(given)).matches("output", source="library")
    student.build(given=given, d_model=12, n_heads=4)(*inputs(given, d_model=12)).matches("output", source="library")


@attention.check(points=1, hint="what do B = 1 and a length of 1 do to an axis you squeeze, or forget?")
def test_one_sample_and_one_position(student, given):
    """A batch of one sample, and sequences of one position, are ordinary inputs."""
    for sizes in ({"batch": 1}, {"queries": 1, "keys": 1}):
        answer = student.build(given=given, d_model=6, n_heads=2)(*inputs(given, **sizes))
        answer.has_form()
        answer.matches("output", source="library")


@attention.check(
    points=3,
    hint="True means padding here; the mask has an axis for samples and one for keys, and none for heads",
)
def test_padding_hides_keys(student, given):
    """Padded keys are ignored by all heads and all queries of their sample, however large their values are."""
    query, key, value = inputs(given)
    value[padding()] *= 1e6
    module = student.build(given=given, d_model=6, n_heads=2)
    module(query, key, value, key_padding_mask=padding(), gradients=True).matches("output", source="library")


@attention.check(points=2.5, hint="query 0 sees key 0 only, whatever the lengths")
def test_causal_hides_later_keys(student, given):
    """Causal with equal lengths, with more keys, and with more queries."""
    for queries, keys in ((4, 4), (4, 5), (5, 2)):
        module = student.build(given=given, d_model=6, n_heads=2)
        module(*inputs(given, queries=queries, keys=keys), is_causal=True).matches("output", source="library")


@attention.check(
    points=1.5,
    hint="can a score be too large for exp(), or lower than the number written over forbidden ones?",
)
def test_extreme_scores(student, given):
    """Scores of up to 1800, and padding among scores below -2e4, give weights of 0 and 1."""
    identity = torch.eye(6, dtype=torch.float64)
    parameters = given.parameters(
        {"v_proj.weight": (6, 6), "v_proj.bias": (6,), "out_proj.weight": (6, 6), "out_proj.bias": (6,)}
    )
    for name in ("q_proj", "k_proj"):  # so that the scores are what the inputs say
        parameters |= {f"{name}.weight": identity, f"{name}.bias": torch.zeros(6, dtype=torch.float64)}
    first_of_head = torch.tensor([1.0, 0, 0, 1, 0, 0], dtype=torch.float64)
    rows = torch.tensor([150.0, 450.0, -200.0, 300.0], dtype=torch.float64) * math.sqrt(3)
    columns = torch.tensor([3.0, 1.0, 4.0, 0.0, 2.0], dtype=torch.float64)
    query, key = rows[:, None] * first_of_head, columns[:, None] * first_of_head
    value = given.normal("value", 3, 5, 6)
    student.build(parameters=parameters, d_model=6, n_heads=2)(
        query.repeat(3, 1, 1), key.repeat(3, 1, 1), value
    ).matches("output")
    low = -math.sqrt(3) * first_of_head.repeat(3, 4, 1)
    high = (2e4 + 9e3 * columns)[:, None] * first_of_head
    student.build(parameters=parameters, d_model=6, n_heads=2)(
        low, high.repeat(3, 1, 1), value, key_padding_mask=padding()
    ).matches("output")


@attention.check(points=2.5, hint="gradients must reach all three inputs")
def test_gradients_of_query_key_and_value(student, given):
    """The gradients that flow back to the three inputs are right."""
    answer = student.build(given=given, d_model=6, n_heads=2)(*inputs(given), gradients=True)
    answer.gradients_match("query", "key", "value", source="library")


@attention.check(points=2, hint="where does the argument bias go?")
def test_bias_false_leaves_the_biases_out(student, given):
    """With bias=False the four layers have no bias, and the output is right."""
    module = student.build(given=given, d_model=6, n_heads=2, bias=False)
    module(*inputs(given)).matches("output", source="library")


@attention.check(points=1.5, requires="module_has_four_projections", hint="how many numbers would each head get?")
def test_width_not_divisible_by_heads_raises(student):
    """d_model=6 cannot be shared out among 4 heads: a ValueError."""
    student.build_raises(ValueError, d_model=6, n_heads=4, when="d_model is not divisible by n_heads")


@attention.check(points=1, requires="cross_attention_output", hint="nothing in this module is random")
def test_training_and_evaluation_agree(student, given):
    """The same inputs give the same output and weights in train() and in eval()."""
    evaluated, trained = (
        student.build(given=given, d_model=6, n_heads=2)(*inputs(given), key_padding_mask=padding(), mode=mode)
        for mode in ("eval", "train")
    )
    for name in ("output", "weights"):
        trained.holds(f"train() and eval() give the same {name}", trained.value(name), evaluated.value(name), of=name)


@attention.check(points=1, hint="make new tensors with the dtype of an input, for example query.new_zeros(...)")
def test_output_has_the_dtype_of_the_inputs(student, given):
    """float32 in, float32 out; after .double(), float64 in, float64 out."""
    module = student.build(given=given, d_model=6, n_heads=2)
    query, key, value = (tensor.float() for tensor in inputs(given))
    value[padding()] *= 1e6
    answer = module(query, key, value, dtype="float32", key_padding_mask=padding(), is_causal=True)
    answer.has_dtype(torch.float32)
    answer.matches("output")
    module = student.build(given=given, d_model=6, n_heads=2)
    module(*inputs(given), dtype="float32", is_double=True, key_padding_mask=padding(), is_causal=True).has_dtype(
        torch.float64
    )


@attention.check(
    points=1, requires="padding_hides_keys", hint="look for &=, += and functions ending in _ on an argument"
)
def test_inputs_and_masks_are_left_unchanged(student, given):
    """The caller's tensors and masks are the same after the call."""
    module = student.build(given=given, d_model=6, n_heads=2)
    module(*inputs(given), key_padding_mask=padding(), gradients=True).leaves_inputs_unchanged()
