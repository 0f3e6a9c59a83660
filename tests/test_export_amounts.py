"""Points as gradebooks write and mean them."""

from decimal import Decimal

import pytest

from grader.export.amounts import has_decimal_comma, read_points, scaled
from grader.record import points_text


@pytest.mark.parametrize(
    ("text", "points"),
    [("87.5", "87.5"), ("87,50", "87.5"), (" 8 ", "8"), ("-1,5", "-1.5"), (".5", "0.5"), ("7.", "7"), ("0", "0")],
)
def test_read_points_takes_a_point_or_a_comma(text, points):
    """In whatever language it was written."""
    assert Decimal(points) == read_points(text)


@pytest.mark.parametrize("text", ["", "-", "EX", "1,000.00", "1e3", "NaN", "87.5%", "٣", "12 3", "=1"])
def test_read_points_of_what_is_no_plain_number_is_none(text):
    """A thousands mark could be a decimal one, so nobody guesses."""
    assert read_points(text) is None


@pytest.mark.parametrize(
    ("cells", "delimiter", "expected"),
    [
        (["8,5", "9,25", "1.5"], ",", True),
        (["8.5", "9", "x,1"], ";", False),
        (["8", "9", ""], ";", True),
        (["8", "9", ""], ",", False),
        ([], "\t", False),
    ],
)
def test_has_decimal_comma_follows_the_numbers_then_the_delimiter(cells, delimiter, expected):
    """Where no number has a fraction, semicolons are there because commas are in numbers."""
    assert expected == has_decimal_comma(cells, delimiter)


def test_scaled_points_are_rounded_half_up():
    """As all points are; to even, as numbers are formatted, would give 0.82."""
    assert Decimal("0.83") == scaled(Decimal("8.25"), Decimal(100), Decimal(10))


def test_scaled_to_the_same_maximum_changes_nothing():
    """Not even where it is 0."""
    assert 0 == scaled(Decimal(0), Decimal(0), Decimal(0))


def test_points_text_has_two_places_or_nothing():
    """Null is not a zero."""
    assert ["7.00", "", "–"] == [points_text(Decimal(7)), points_text(None), points_text(None, "–")]
