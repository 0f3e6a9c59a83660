"""Closeness of two tensors, and where they differ most."""

import math

import pytest
import torch

from grader.compare import Mismatch, allowance, compare, first_not_finite

NAN, INF = math.nan, math.inf


def tensor(*values, dtype=torch.float64):
    """A float64 tensor of one axis."""
    return torch.tensor(values, dtype=dtype)


def test_compare_equal_tensors_give_no_mismatch():
    """What is equal needs no tolerance."""
    assert compare(tensor(1.0, 2.0), tensor(1.0, 2.0), 0.0) is None


def test_compare_difference_of_exactly_the_allowance_passes():
    """The allowance itself is allowed."""
    assert compare(tensor(1.5), tensor(1.0), 0.5) is None


def test_compare_difference_just_above_the_allowance_fails():
    """The next larger number is not."""
    assert compare(tensor(1.5), tensor(1.0), math.nextafter(0.5, 0.0)) is not None


def test_compare_mismatch_counts_and_shows_the_worst_element():
    """The largest difference is shown, with its place and both values, not the first one."""
    observed = torch.tensor([[1.0, 2.5, 3.0], [4.0, 5.0, 8.0]])
    expected = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

    assert Mismatch(
        differing=2, total=6, index=(1, 2), observed=8.0, expected=6.0, difference=2.0, allowed=0.1
    ) == compare(observed, expected, 0.1)


def test_compare_nan_never_equals_even_nan():
    """NaN on both sides is a difference."""
    mismatch = compare(tensor(NAN), tensor(NAN), INF)

    assert 1 == mismatch.differing


def test_compare_nan_counts_as_the_largest_difference():
    """A NaN is shown before any finite difference."""
    mismatch = compare(tensor(100.0, NAN, 0.0), tensor(0.0, 0.0, 0.0), 1e-6)

    assert (2, (1,)) == (mismatch.differing, mismatch.index)


def test_compare_equal_infinities_differ():
    """Nobody can say how far apart two infinities are."""
    assert compare(tensor(INF), tensor(INF), 1e-6) is not None


def test_compare_float32_is_measured_in_float64():
    """A float32 answer is not rounded once more by the comparison."""
    mismatch = compare(tensor(0.1, dtype=torch.float32), tensor(0.1), 1e-12)

    assert 1.49e-9 == pytest.approx(mismatch.difference, rel=1e-2)


def test_compare_boolean_tensors_count_as_zero_and_one():
    """A mask is compared as numbers."""
    mismatch = compare(torch.tensor([True, False]), torch.tensor([True, True]), 0.0)

    assert (1, (1,), 0.0, 1.0) == (mismatch.differing, mismatch.index, mismatch.observed, mismatch.expected)


def test_compare_tensor_without_axes_has_an_empty_index():
    """A single number has no place."""
    assert () == compare(torch.tensor(1.0), torch.tensor(2.0), 0.1).index


def test_compare_tensors_without_elements_are_equal():
    """Nothing differs where nothing is."""
    assert compare(torch.zeros(0, 3), torch.zeros(0, 3), 0.0) is None


def test_allowance_is_never_below_the_tolerance_itself():
    """Small expected values do not make the comparison stricter."""
    assert 1e-6 == allowance(1e-6, [tensor(1e-9)])


def test_allowance_grows_with_the_largest_expected_value():
    """The largest magnitude of all tensors of a call sets one scale."""
    assert 5e-3 == pytest.approx(allowance(1e-3, [tensor(1.0), tensor(2.0, -5.0)]))


def test_allowance_of_no_elements_is_the_tolerance():
    """Neither an empty list nor an empty tensor has a scale."""
    assert 1e-6 == allowance(1e-6, []) == allowance(1e-6, [torch.zeros(0)])


def test_allowance_of_a_boolean_tensor_is_the_tolerance():
    """A mask has the scale 1."""
    assert 1e-6 == allowance(1e-6, [torch.tensor([True, False])])


def test_allowance_infinite_expected_value_does_not_allow_anything():
    """An infinity among the expected values leaves the finite ones their scale."""
    assert 3e-6 == pytest.approx(allowance(1e-6, [tensor(INF, NAN, -3.0)]))


def test_first_not_finite_of_finite_values_is_none():
    """Large is not infinite."""
    assert first_not_finite(tensor(1e308, -1e308)) is None


def test_first_not_finite_gives_place_value_and_count():
    """The first in reading order, and how many in all."""
    found = first_not_finite(torch.tensor([[1.0, 2.0], [-INF, NAN]]))

    assert ((1, 0), -INF, 2) == found


def test_first_not_finite_of_a_mask_is_none():
    """A Boolean tensor is finite."""
    assert first_not_finite(torch.tensor([True])) is None
