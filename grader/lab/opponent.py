"""PyTorch's own module in the place of a student's, and an empty one. Text for a worker; nothing here runs it.

A worker is handed the text of this file as if somebody had submitted it: both modules are asked over the same wire, in
the same sandbox. It imports torch, and nothing else is there.
"""

from typing import Any

import torch
from torch import Tensor, nn


class PyTorch(nn.Module):
    """`nn.MultiheadAttention` with a causal mask, returning the weights of each head.

    Args:
        d_model: size of each input and output vector.
        n_heads: number of heads.
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        nn.Module.__init__(self)
        self.attention = nn.MultiheadAttention(d_model, n_heads, bias=False, batch_first=True)

    def forward(self, x: Tensor) -> Any:
        """Attend from x [batch, position, d_model] to itself."""
        later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(diagonal=1)
        return self.attention(x, x, x, attn_mask=later, average_attn_weights=False)


class _Through(torch.autograd.Function):
    """Hands x on, and its gradient back; to the layers goes a gradient of zeros, of the size of a real one."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, first: Tensor, last: Tensor) -> Tensor:
        ctx.shapes = first.shape, last.shape
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        first, last = ctx.shapes
        return upstream[0], upstream[0].new_zeros(first), upstream[0].new_zeros(last)


class Nothing(nn.Module):
    """Takes and returns tensors of the shapes of attention, and computes none: what is left is the way here and back.

    Args: those of `PyTorch`.
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        nn.Module.__init__(self)
        self.first = nn.Parameter(torch.zeros(3 * d_model, d_model))
        self.last = nn.Parameter(torch.zeros(d_model, d_model))
        self.many = n_heads
        self.zeros = torch.zeros(0)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return x, and weights of zeros that are made in the first call."""
        shape = (x.shape[0], self.many, x.shape[1], x.shape[1])
        if self.zeros.shape != shape:
            self.zeros = torch.zeros(shape)
        return _Through.apply(x, self.first, self.last), self.zeros  # type: ignore[no-untyped-call]
