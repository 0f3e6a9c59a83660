"""Inputs and weights of the experiments."""

import torch

from grader.lab.drawn import Drawn


def test_drawn_equal_names_give_equal_numbers_in_any_order():
    """And other names, or another seed, other ones."""
    one, other = Drawn(3), Drawn(3)
    one.normal("before", 5)

    assert torch.equal(one.normal("x", 2, 3), other.normal("x", 2, 3))
    assert not torch.equal(one.normal("x", 2, 3), one.normal("y", 2, 3))
    assert not torch.equal(one.normal("x", 2, 3), Drawn(4).normal("x", 2, 3))


def test_drawn_largest_seed_is_a_seed():
    """What the command line takes."""
    assert Drawn(2**63 - 1).normal("x", 2).isfinite().all()


def test_drawn_rotation_is_one():
    """Its transpose undoes it."""
    rotation = Drawn(3).rotation("r", 7)

    assert torch.allclose(torch.eye(7, dtype=torch.float64), rotation @ rotation.T)


def test_drawn_weights_apart_read_a_half_each():
    """Queries and keys the first one, values the second."""
    queries, keys, values = Drawn(3).weights_apart("w", 4).qkv.chunk(3)

    assert not queries[:, 4:].any()
    assert not keys[:, 4:].any()
    assert not values[:, :4].any()
    assert queries[:, :4].any(dim=1).all()


def test_drawn_queries_alone_are_multiplied():
    """And the weights they come from stay as they are."""
    weights = Drawn(3).weights("w", 6)
    before = weights.qkv.clone()

    multiplied = weights.with_queries_times(2.0)

    assert torch.equal(before, weights.qkv)
    assert torch.equal(2 * before[:6], multiplied.qkv[:6])
    assert torch.equal(before[6:], multiplied.qkv[6:])
