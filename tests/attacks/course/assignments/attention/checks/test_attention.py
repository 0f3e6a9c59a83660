"""Visible checks."""

from grader.checks import Checks

attention = Checks("attention")


def inputs(given):
    """query [2, 3, 7], key [2, 5, 7], value [2, 5, 4]."""
    return given.vectors("query", 2, 3, 7), given.vectors("key", 2, 5, 7), given.normal("value", 2, 5, 4)


@attention.check(points=1)
def test_shape(student, given):
    """The output is shaped [batch, query, value dim]."""
    student(*inputs(given), gradients=True).has_form()


@attention.check(points=3)
def test_values(student, given):
    """The values are right."""
    student(*inputs(given), gradients=True).matches()


@attention.check(points=2)
def test_gradients(student, given):
    """The gradients are right."""
    student(*inputs(given), gradients=True).gradients_match("query", "key", "value")
