"""Seeded inputs: what they depend on, and what not."""

import math

import pytest
import torch

from grader.given import Given, Inputs


def test_given_same_seed_scope_and_name_give_the_same_tensor():
    """Another process of the same run sees the same inputs."""
    assert torch.equal(Given(7, "mix/visible").normal("query", 2, 3), Given(7, "mix/visible").normal("query", 2, 3))


def test_given_tensor_does_not_depend_on_what_was_drawn_before():
    """Checks may run in any order, or alone."""
    other = Given(7, "mix/visible")
    other.normal("key", 2, 3)
    other.permutation("order", 5)

    assert torch.equal(Given(7, "mix/visible").normal("query", 2, 3), other.normal("query", 2, 3))


def test_given_ignores_and_leaves_alone_torchs_own_generator():
    """Neither does the global seed change the inputs, nor do the inputs change what others draw."""
    torch.manual_seed(1)
    first = Given(7, "mix").normal("query", 2)
    drawn = torch.rand(1)
    torch.manual_seed(1)

    assert torch.equal(drawn, torch.rand(1))
    assert torch.equal(first, Given(7, "mix").normal("query", 2))


@pytest.mark.parametrize(
    "other",
    [
        Given(8, "mix/visible").normal("query", 4, 3),
        Given(7, "mix/hidden").normal("query", 4, 3),
        Given(7, "mix/visible").normal("key", 4, 3),
        Given(7, "mix/visible").normal("query", 3, 4),
    ],
    ids=["seed", "scope", "name", "shape"],
)
def test_given_seed_scope_name_and_shape_each_change_all_values(other):
    """What a visible check shows is nothing that a hidden one uses."""
    drawn = Given(7, "mix/visible").normal("query", 4, 3)

    assert not set(drawn.flatten().tolist()) & set(other.flatten().tolist())


def test_given_normal_is_float64_of_unit_spread():
    """Standard normal numbers, in the precision of the comparison."""
    drawn = Given(7, "mix").normal("query", 10_000)

    assert torch.float64 == drawn.dtype
    assert (0.0, 1.0) == (pytest.approx(float(drawn.mean()), abs=0.05), pytest.approx(float(drawn.std()), abs=0.05))


def test_given_tensor_changed_by_its_caller_is_fresh_the_next_time():
    """A check that changes its inputs changes no other check's."""
    given = Given(7, "mix")
    given.normal("query", 2).zero_()

    assert torch.equal(Given(7, "mix").normal("query", 2), given.normal("query", 2))


@pytest.mark.parametrize("length", [2, 3, 4, 9])
def test_given_permutation_leaves_no_element_in_place(length):
    """Forgetting to apply it shows at every element."""
    for seed in range(20):
        order = Given(seed, "mix").permutation("order", length)

        assert list(range(length)) == sorted(order.tolist())
        assert not any(place == element for place, element in enumerate(order.tolist()))


@pytest.mark.parametrize("length", [0, 1])
def test_given_permutation_of_one_element_or_none_ends(length):
    """There is nothing to move, and no endless search for a way to."""
    assert list(range(length)) == Given(7, "mix").permutation("order", length).tolist()


def test_given_vectors_have_the_length_asked_for():
    """All along the last axis, whatever the direction."""
    drawn = Given(7, "mix").vectors("query", 2, 3, 5, length=1.5)

    assert torch.allclose(torch.full((2, 3), 1.5, dtype=torch.float64), drawn.norm(dim=-1))


def test_given_vectors_keep_scaled_scores_within_two_and_a_half():
    """By default no score of a query and a key is large by chance."""
    given = Given(7, "mix")
    query, key = given.vectors("query", 40, 6), given.vectors("key", 50, 6)

    assert 2.5 >= float((query @ key.T / math.sqrt(6)).abs().max())


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (5, 5)])
def test_given_parameters_weights_have_orthonormal_rows_or_columns(shape):
    """A projection keeps lengths, which bounds the scores behind it."""
    weight = Given(7, "mix").parameters({"proj.weight": shape})["proj.weight"]
    small = weight if shape[0] < shape[1] else weight.T

    assert shape == tuple(weight.shape)
    assert torch.allclose(torch.eye(min(shape), dtype=torch.float64), small @ small.T)


def test_given_parameters_biases_are_not_zero_and_differ_by_name():
    """A bias that is left out or swapped shows."""
    drawn = Given(7, "mix").parameters({"q_proj.bias": (4,), "k_proj.bias": (4,)})

    assert 0.5 == pytest.approx(float(drawn["q_proj.bias"].norm()))
    assert not torch.allclose(drawn["q_proj.bias"], drawn["k_proj.bias"])


def test_inputs_scope_is_one_object_a_name():
    """All checks of a scope draw from one place."""
    inputs = Inputs(7)

    assert inputs.scope("mix/visible") is inputs.scope("mix/visible")
    assert inputs.scope("mix/visible") is not inputs.scope("mix/hidden")


def test_inputs_equal_tensors_make_one_payload():
    """What is asked of every student is encoded once."""
    inputs = Inputs(7)
    first = inputs.payload({"query": torch.ones(2)}, {})

    assert first is inputs.payload({"query": torch.ones(2)}, {})
    assert first is not inputs.payload({"query": torch.zeros(2)}, {})
