"""Numbers and words that were returned: what counts as one, when two are the same, how they are written."""

import math

import pytest
import torch

from grader.outcome import Node
from grader.plain import is_of_sort, plain_of, same, sort_of, text_of


def plain(value):
    """A node that a worker makes of a plain value."""
    return Node(kind="other", type=type(value).__name__, value=value)


def sequence(*nodes, length=None):
    """A node of a tuple."""
    return Node(kind="sequence", type="tuple", length=len(nodes) if length is None else length, items=nodes)


@pytest.mark.parametrize(
    ("node", "value"),
    [
        (plain(3), 3),
        (plain("attention"), "attention"),
        (sequence(plain(2), plain(3)), (2, 3)),
        (sequence(plain((2, 3)), plain((5,))), ((2, 3), (5,))),
        (Node(kind="tensor", dtype="int64", shape=(), data="0"), 7),
        (sequence(Node(kind="tensor", dtype="int64", shape=(), data="0"), plain(2)), (7, 2)),
        (Node(kind="tensor", dtype="int64", shape=(1,), data="1"), None),
        (Node(kind="tensor", dtype="complex64", shape=()), None),
        (Node(kind="other", type="NoneType", text="None"), None),
        (sequence(plain(2), Node(kind="other", type="NoneType", text="None")), None),
        (sequence(plain(2), length=1_000_000), None),
        (sequence(), None),
    ],
)
def test_plain_of_takes_what_stands_for_a_number_or_a_word(node, value):
    """Also a tensor without axes; nothing that was cut, and no other tensor."""
    assert value == plain_of(node, {"0": torch.tensor(7), "1": torch.tensor([7])})


@pytest.mark.parametrize(
    ("observed", "expected"),
    [
        (6, 6),
        (6.0, 6),
        (6, 6.0),
        (1, True),
        (True, True),
        (2.000001, 2.0),
        (0.0300000001, 0.03),
        (0.0, 0.0),
        (1e-17, 0.0),
        ("Feed Forward", "feed-forward"),
        (" feed_forward ", "feed-forward"),
        ("FEED\u2010FORWARD", "feed-forward"),
        ((2, 3.0), (2, 3)),
        (((2, 3), (5,)), ((2, 3), (5,))),
        (2**62, 2**62),
    ],
)
def test_plain_same_however_it_is_written(observed, expected):
    """A float that is whole, another spelling, rounding of a number with a fraction."""
    assert same(observed, expected, 1e-5)


@pytest.mark.parametrize(
    ("observed", "expected"),
    [
        (7, 6),
        (6.000001, 6),
        (10**12 + 1, 10**12),
        (2**62 + 1, 2**62),
        (0.0301, 0.03),
        (0.01, 0.0),
        (math.nan, 6),
        (math.nan, 0.5),
        (math.inf, 0.5),
        (False, True),
        ("6", 6),
        (6, "6"),
        ("attention", "feed-forward"),
        ((2, 3), (2, 3, 5)),
        ((3, 2), (2, 3)),
        (2, (2,)),
        ((2,), 2),
        (((2, 3),), ((2, 4),)),
    ],
)
def test_plain_not_the_same(observed, expected):
    """Whole numbers are compared to the last digit, whatever their size; NaN equals nothing."""
    assert not same(observed, expected, 1e-5)


@pytest.mark.parametrize(
    ("value", "sort", "text"),
    [
        (6, "a whole number", "6"),
        (0.5, "a number", "0.5"),
        (True, "True or False", "True"),
        ("attention", "a word", "'attention'"),
        ("a\x1b[2Jb\n", "a word", "'a\\x1b[2Jb\\n'"),
        ("\u202eevil", "a word", "'\\u202eevil'"),
        ((2, 3), "a tuple of numbers", "(2, 3)"),
        (((2,), 3), "a tuple of numbers", "((2,), 3)"),
    ],
)
def test_plain_value_in_words(value, sort, text):
    """What cannot be printed is spelt out."""
    assert (sort, text) == (sort_of(value), text_of(value))


def test_plain_sorts_are_words_numbers_and_sequences():
    """True counts as a number."""
    assert is_of_sort(True, 3) and is_of_sort(0.5, 3) and is_of_sort((1,), (2, 3)) and is_of_sort("a", "b")
    assert not (is_of_sort("3", 3) or is_of_sort(3, (3,)) or is_of_sort((3,), "a"))
