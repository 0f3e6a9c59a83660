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
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, n_heads, bias=False, batch_first=True)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Attend from x [batch, position, d_model] to itself."""
        length = x.shape[1]
        is_later = torch.ones(length, length, dtype=torch.bool).triu(diagonal=1)
        output, weights = self.attention(x, x, x, attn_mask=is_later, average_attn_weights=False)
        return output, weights


class _Through(torch.autograd.Function):
    """Hands x on, and its gradient back; to the layers goes a gradient of zeros, of the size of a real one."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, qkv: Tensor, out: Tensor) -> Tensor:
        ctx.shapes = qkv.shape, out.shape
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        qkv, out = ctx.shapes
        return upstream[0], upstream[0].new_zeros(qkv), upstream[0].new_zeros(out)


class Nothing(nn.Module):
    """Takes and returns tensors of the shapes of attention, and computes none: what is left is the way here and back.

    Args: those of `PyTorch`.
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)
        self.weights = torch.empty(0)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return x, and weights of zeros that are made in the first call."""
        batch, length, _ = x.shape
        if self.weights.shape != (batch, self.n_heads, length, length):
            self.weights = torch.zeros(batch, self.n_heads, length, length)
        output: Tensor = _Through.apply(x, self.qkv.weight, self.out.weight)  # type: ignore[no-untyped-call]
        return output, self.weights
