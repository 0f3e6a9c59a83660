"""Hidden checks of attention.py."""

import math

import torch

from grader.checks import Checks

attention = Checks("scaled_dot_product_attention")
module = Checks("Attention")


def inputs(given, batch=2, queries=4, keys=6, dim=5, value_dim=3):
    """query [batch, queries, dim], key [batch, keys, dim], value [batch, keys, value_dim]."""
    return (
        given.vectors("query", batch, queries, dim),
        given.vectors("key", batch, keys, dim),
        given.normal("value", batch, keys, value_dim),
    )


@attention.check(points=1, requires="output_of_cross_attention", hint="what is a softmax over nothing? What is 0 / 0?")
def test_no_key_or_no_width_raises(student, given):
    """An empty source, and vectors of no elements, are a ValueError."""
    query, key, value = inputs(given)
    student.raises(ValueError, query, key[:, :0], value[:, :0], when="there is no key")
    student.raises(ValueError, query[:, :, :0], key[:, :, :0], value, when="keys have no width")


@attention.check(points=1, requires="output_under_a_mask", hint="what is 0 times infinity?")
def test_values_that_are_not_finite_raise(student, given):
    """NaN or infinity among the values is a ValueError, of a forbidden key too."""
    query, key, value = inputs(given)
    mask = torch.ones(4, 6, dtype=torch.bool)
    mask[:, 2] = False
    for odd, place in ((math.nan, 1), (math.inf, 2)):
        odd_value = value.clone()
        odd_value[1, place, 0] = odd
        student.raises(ValueError, query, key, odd_value, mask, when=f"a value is {odd}")


@attention.check(points=1, requires="output_under_a_mask", hint="which lengths may an axis of the mask have?")
def test_mask_that_does_not_fit_raises(student, given):
    """Too many keys, another number of queries, and a fourth axis are a ValueError."""
    for shape in ((2, 4, 7), (3, 6), (1, 2, 4, 6)):
        mask = torch.ones(shape, dtype=torch.bool)
        student.raises(ValueError, *inputs(given), mask, when="the mask cannot be broadcast to [B, L, S]")


@attention.check(points=1.5, hint="if a key has no weight, nothing that is done to it can matter")
def test_forbidden_keys_get_no_gradient(student, given):
    """Keys that no query may attend to have gradients of exactly 0; the others have the right ones."""
    mask = torch.ones(2, 4, 6, dtype=torch.bool)
    mask[0, :, 4:] = mask[1, :, 1] = False
    answer = student(*inputs(given), mask, gradients=True)
    answer.matches("output")
    answer.gradients_match("query", "key", "value")
    for name in ("key", "value"):
        forbidden = answer.gradient(name)[~mask[:, 0]]
        answer.holds(
            "a forbidden key has a gradient of exactly 0",
            forbidden,
            torch.zeros_like(forbidden),
            of=f"gradient of the forbidden {name}s",
            exactly=True,
        )


@module.check(
    points=1,
    requires="module_in_evaluation_is_the_function",
    hint="does the module refuse what the function refuses?",
)
def test_module_refuses_what_the_function_refuses(student, given):
    """A mask that leaves a query nothing, one of integers, one sample of keys, and scores that overflow, as before."""
    query, key, value = inputs(given)
    attend = student.build(parameters={}, dropout=0.4)
    mask = torch.ones(4, 6, dtype=torch.bool)
    attend.raises(TypeError, query, key, value, mask.long(), when="the mask is not Boolean")
    mask[3] = False
    attend.raises(ValueError, query, key, value, mask, when="a query may attend to nothing")
    attend.raises(ValueError, query, key[:1], value[:1], when="query and key have different numbers of samples")
    attend.raises(ValueError, query * 1e200, key * 1e200, value, when="a score is infinite, though no input is")
