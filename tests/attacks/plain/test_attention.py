"""An ordinary test file, as many a course has: it imports the student's function and compares with the reference."""

import torch
from attention import attention

from reference.attention import attention as reference

SECRET = "@HIDDEN_SECRET@"


def inputs(queries, keys, dim, value_dim, batch):
    """Fresh ones for each test, the same for both sides."""
    shapes = (batch, queries, dim), (batch, keys, dim), (batch, keys, value_dim)
    return [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]


def test_shape():
    """The output is shaped [batch, query, value dim]."""
    observed = attention(*inputs(3, 5, 7, 4, 2))
    assert observed.shape == (2, 3, 4)


def test_values():
    """The values are right."""
    query, key, value = inputs(3, 5, 7, 4, 2)
    expected = reference(query, key, value)
    observed = attention(query, key, value)
    assert torch.allclose(observed, expected)


def test_gradients():
    """The gradients are right."""
    given = inputs(3, 5, 7, 4, 2)
    expected = torch.autograd.grad(reference(*given).sum(), given)
    observed = torch.autograd.grad(attention(*given).sum(), given)
    for one, other in zip(observed, expected, strict=True):
        torch.testing.assert_close(one, other)


def test_other_sizes():
    """More queries than keys."""
    query, key, value = inputs(6, 2, 5, 8, 3)
    expected = reference(query, key, value)
    observed = attention(query, key, value)
    torch.testing.assert_close(observed, expected)
