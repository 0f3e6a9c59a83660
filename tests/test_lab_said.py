"""What is said of figures: always what they are, of whatever module."""

import math

import pytest
from sample_lab import (
    sample_against,
    sample_future,
    sample_heads,
    sample_lab,
    sample_scaling,
    scaling_point,
    timed,
)

from grader.lab.amounts import factor, mib, number, percent, rate, seconds
from grader.lab.figures import Problem
from grader.lab.said import against_shows, future_shows, heads_shows, lines, scaling_shows
from grader.verdict import Verdict


def test_said_scaling_of_a_right_module_pins_all_of_it():
    """Variance, entropy, gradients."""
    assert (
        "With the scaling, the variance of the logits stays near 1 from d_head = 4 to 64 (1 to 1). With queries "
        "multiplied by the square root of d, which undoes the division, it goes from 4 to 64, and the entropy of the "
        "weights goes from 30 % to 30 % of that of equal weights. At d_head = 64 the gradient through the scores of a "
        "token in the highest tenth is 3.00 times that of one in the lowest tenth as the module is, and 3.00 times "
        "with the division undone."
    ) == scaling_shows(sample_scaling())


@pytest.mark.parametrize(
    ("power", "level", "said"),
    [
        (1.0, 1.0, "grows with the width, about as d to the power 1.0 (from 4 to 64, from d_head = 4 to 64): its"),
        (-1.0, 1.0, "falls with the width, about as d to the power -1.0"),
        (0.0, 0.5, "about 0.5 at every width, and not 1: its scores are 0.707 times what the square root of d_head"),
        (0.0, 1.3, "stays near 1"),
    ],
)
def test_said_scaling_of_a_wrong_module_says_which_way(power, level, said):
    """Divided by nothing, by d, by the square root of twice the width; and what few tokens may give is right."""
    assert said in scaling_shows(sample_scaling(power, level))


def test_said_scaling_weights_without_a_logarithm_are_mentioned():
    """They are left out of the variance."""
    points = (*sample_scaling().points, scaling_point(128, False, 130.0, unreadable_share=0.25))

    assert "Up to 25 % of the weights of allowed keys are 0 or less" in scaling_shows(sample_scaling(points=points))


def test_said_scaling_without_gradients_is_silent_about_them():
    """They could not be measured."""
    points = (scaling_point(d, on, 1.0, gradient_low=None) for d in (4, 8) for on in (True, False))

    assert "gradient" not in scaling_shows(sample_scaling(points=tuple(points)))


def test_said_scaling_gradients_alone_are_told_where_there_are_no_weights():
    """And what was in the way of the logits."""
    points = tuple(one.model_copy(update={"variance": None}) for one in sample_scaling().points)
    problems = (Problem(at="", verdict=Verdict.WRONG_SHAPE, message="…"),)

    said = scaling_shows(sample_scaling(points=points, problems=problems))

    assert said.startswith("Logits could not be read: wrong shape. At d_head = 64 the gradient through the scores")


def test_said_future_of_a_right_module_pins_all_of_it():
    """Nothing is left to wonder."""
    assert (
        "The future does not leak: in all 3 pairs of an output and a later token the output moves by exactly 0. "
        "Without the mask, all 6 pairs of different positions move."
    ) == future_shows(sample_future())


def test_said_future_that_leaks_names_the_worst_pair():
    """By its positions, and how far it moved."""
    future = sample_future(with_mask=((0.9, 0.1, 0.4), (0.5, 0.6, 0.0), (0.3, 0.2, 0.7)))

    assert (
        "The future leaks: the output moves in 2 of 3 pairs of an output and a later token. The most: changing token 2 "
        "moves output 0, which comes before it, by 0.4 times the change."
    ) in future_shows(future)


def test_said_future_mask_that_does_nothing_is_said():
    """Movements with it and without it are the same."""
    same = sample_future().without_mask

    assert "the same as with it: there is no mask, or it does nothing" in future_shows(sample_future(with_mask=same))


def test_said_future_trace_is_no_leak_and_no_0():
    """A finite number stands for minus infinity."""
    future = sample_future(with_mask=((0.9, 1e-9, 0.0), (0.5, 0.6, 0.0), (0.3, 0.2, 0.7)))

    assert "A trace of the future gets through: the output moves in 1 of 3 pairs" in future_shows(future)


def test_said_future_deaf_output_is_named():
    """One that does not see its own token."""
    future = sample_future(with_mask=((0.9, 0.0, 0.0), (0.5, 0.0, 0.0), (0.3, 0.2, 0.0)))

    said = "2 pairs do not move though the mask allows it; output 1, for one, does not depend on token 1."
    assert said in future_shows(future)


def test_said_future_of_a_restless_module_warns():
    """Its movements may be chance."""
    assert future_shows(sample_future(unrest=0.3)).startswith("Two equal calls already differ, by up to 0.3:")


def test_said_heads_pins_all_of_it():
    """Memory and throughput."""
    assert (
        "From 1 head of width 64 to 8 heads of width 8: the weights go from 0.25 MiB to 2.00 MiB, all tensors of a "
        "forward pass from 1.00 MiB to 8.00 MiB. Forward and backward, 2\N{NO-BREAK SPACE}000 tokens a second become "
        "1\N{NO-BREAK SPACE}000, 0.50 times."
    ) == heads_shows(sample_heads())


def test_said_heads_difference_within_the_scatter_is_called_so():
    """Nobody concludes from it."""
    assert "1.05 times" not in heads_shows(sample_heads(1.05))
    assert "which is less than the repetitions differ among themselves." in heads_shows(sample_heads(1.05))


def test_said_heads_call_that_was_too_short_has_no_rate():
    """No time above the way's was measured."""
    points = tuple(one.model_copy(update={"both": timed(None)}) for one in sample_heads().points)

    assert heads_shows(sample_heads(points=points)).endswith(
        "The calls were too short to be told from the way to the worker and back."
    )


def test_said_against_agreeing_module_pins_all_of_it():
    """Differences and times."""
    assert (
        "The same as PyTorch's but for rounding; largest differences in float64: output 1e-15, weights 1e-15, gradient "
        "of x 1e-15. With 64 tokens a sample, forward and backward take 16 ms, and 8 ms in PyTorch: 2.00 times."
    ) == against_shows(sample_against())


def test_said_against_a_module_that_was_not_compared_whole_says_so():
    """What was not compared may be anything."""
    problem = Problem(at="", verdict=Verdict.NOT_FINITE, message="NaN")

    told = against_shows(sample_against().model_copy(update={"problems": (problem,)}))

    assert told.startswith("Not all of it could be compared (NaN or infinity). What could is the same as PyTorch's")


def test_said_against_differing_module_says_by_how_much():
    """In the finer dtype."""
    assert (
        "Not PyTorch's attention: in float64 these differ: output by up to 0.25, weights by up to 0.25, gradient of x "
        "by up to 0.25."
    ) in against_shows(sample_against(0.25))


def test_said_experiment_that_failed_says_why():
    """In the words of a verdict, for all four."""
    problems = (Problem(at="", verdict=Verdict.TIMEOUT, message="…"),)
    lab = sample_lab(
        scaling=sample_scaling(points=(), problems=problems),
        future=sample_future(with_mask=(), without_mask=(), unrest=None, problems=problems),
        heads=sample_heads(points=(), problems=problems),
        against=sample_against(differences=(), points=(), problems=problems),
    )

    assert [
        f"{number} {title}: It could not be measured: took too long."
        for number, title in enumerate(("Scaling", "Causal mask", "Heads", "Beside PyTorch"), 1)
    ] == list(lines(lab))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (number(0), "0"),
        (number(1234.5), "1230"),
        (number(6.66e-16), "6.66e-16"),
        (number(None), "–"),
        (percent(0.004), "0.4 %"),
        (percent(0), "0 %"),
        (percent(1), "100 %"),
        (mib(3 * 2**19), "1.50 MiB"),
        (seconds(0.01234), "12.3 ms"),
        (rate(123456), "123\N{NO-BREAK SPACE}000"),
        (factor(math.pi), "3.14 times"),
        (factor(1.8e6), "1800000 times"),
    ],
)
def test_amounts_have_three_digits_and_a_unit(text, shown):
    """As a person would write them."""
    assert shown == text
