"""Hidden checks of multi_head.py."""

import torch

from grader.checks import Checks

attention = Checks("MultiHeadAttention")


def inputs(given, batch=3, queries=5, keys=4, d_model=8):
    """Three unrelated inputs, with more queries than keys."""
    return (
        given.vectors("query", batch, queries, d_model, length=1.5),
        given.vectors("key", batch, keys, d_model, length=1.5),
        given.vectors("value", batch, keys, d_model, length=1.5),
    )


def padding():
    """[3, 4], True = padding; key 0 is always real, one sample has no padding."""
    return torch.tensor([[0, 0, 1, 1], [0, 0, 0, 0], [0, 1, 0, 1]], dtype=torch.bool)


@attention.check(points=3, hint="both restrictions hold at once: a key must pass the one and the other")
def test_causal_and_padding_together(student, given):
    """A key is hidden when it is padding or in the future, with as many samples as heads too."""
    module = student.build(given=given, d_model=8, n_heads=2)
    module(*inputs(given), key_padding_mask=padding(), is_causal=True).matches("output", source="library")
    module = student.build(given=given, d_model=6, n_heads=3)
    module(*inputs(given, d_model=6), padding(), True).matches("output", source="library")


@attention.check(points=2.5, hint="gradients must reach every layer; a layer that is never used gets none")
def test_gradients_of_the_parameters(student, given):
    """The gradients that flow back to the weights and biases of the four layers are right, under a mask."""
    module = student.build(given=given, d_model=8, n_heads=2)
    answer = module(*inputs(given), key_padding_mask=padding(), is_causal=True, gradients=True)
    answer.gradients_match("query", "key", "value", "parameters", source="library")


@attention.check(points=1, hint="what is kept in the module from the first call?")
def test_second_call_with_another_length(student, given):
    """One module is called with other lengths, then with the same lengths but other inputs, flags and masks."""
    module = student.build(given=given, d_model=8, n_heads=2)
    query, key, value = inputs(given, queries=6, keys=6)
    module(*inputs(given, queries=3, keys=3), is_causal=True).matches("output")
    module(query, key, value, is_causal=True).matches("output")
    module(query, value, key).matches("output")
    query, key, value = inputs(given)
    module(query, key, value, key_padding_mask=padding()).matches("output")
    module(query, key, value, key_padding_mask=padding().flip(0)).matches("output")


@attention.check(points=2, hint="does a key know its position?")
def test_order_of_keys_does_not_matter(student, given):
    """Permuting keys and values together changes nothing; permuting the queries permutes the outputs."""
    query, key, value = inputs(given)
    plain = student.build(given=given, d_model=8, n_heads=4)(query, key, value)
    plain.matches("output", source="library")
    keys, queries = given.permutation("keys", 4), given.permutation("queries", 5)
    axes = ("batch", "query", "dim")
    shuffled = student.build(given=given, d_model=8, n_heads=4)(query, key[:, keys], value[:, keys])
    shuffled.holds(
        "the order of the keys does not matter",
        shuffled.value("output"),
        plain.value("output"),
        of="output",
        axes=axes,
    )
    turned = student.build(given=given, d_model=8, n_heads=4)(query[:, queries], key, value)
    turned.holds(
        "permuted queries give permuted outputs",
        turned.value("output"),
        plain.value("output")[:, queries],
        of="output",
        axes=axes,
    )
