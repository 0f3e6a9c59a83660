"""Functions that were left as a stub had them, where stubs return instead of raising."""

import pytest
import torch
from torch import nn

from grader.worker.unfilled import is_left_empty


def stub(query, key):
    """Compute attention."""
    y, weights = None, None
    # Replace "pass" statement with your code
    return y, weights


def sizes(query, key):
    """Compute attention."""
    _, _width = query.shape
    y, weights = None, None
    return y, weights


def no_return(query):
    """Attend."""


def forgotten_return(query, key):
    """Compute something, and forget it."""
    query @ key


def loop(query):
    """Look at every row."""
    for _ in query:
        pass


class Stub(nn.Module):
    """A module whose forward is empty."""

    def forward(self, x):
        """Attend."""
        self.weights = None
        y, weights = None, None
        return y, weights


@pytest.mark.parametrize("function", [stub, sizes, no_return, Stub()])
def test_unfilled_function_that_only_returns_none_is_left_empty(function):
    """Names that are set to None are returned, the shape is taken apart, nothing is returned; a module's forward."""
    result = function(*([torch.ones(2, 2)] * (2 if function in (stub, sizes) else 1)))

    assert is_left_empty(function, result)


@pytest.mark.parametrize("function", [forgotten_return, loop, nn.ReLU(), len])
def test_unfilled_function_that_does_something_is_not_left_empty(function):
    """A return that was forgotten is another mistake; what is no Python of the student's is not looked into."""
    assert not is_left_empty(function, None)


def test_unfilled_function_that_returns_its_argument_is_not_left_empty():
    """It answers, if wrongly."""
    assert not is_left_empty(stub, (None, torch.ones(1)))
