"""Causal self-attention with several heads and one fused projection.

Replace each `raise NotImplementedError` by your code; keep the names. Run the examples below with
`python -m doctest attention.py`: silence means that they agree.
"""

import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    """Every token attends to itself and to the tokens before it, with several heads side by side.

    Has exactly two layers, `qkv` and `out`, both without bias. The first d_model of the 3 * d_model numbers that
    `qkv` gives for a token are its query, the next d_model its key, the last d_model its value. Within each of
    the three, head h has the elements h * d_head up to, not including, (h + 1) * d_head, where
    d_head = d_model / n_heads. The heads' outputs stand in the same order at the entrance of `out`. With
    `qkv.weight` as its `in_proj_weight` and `out.weight` as its `out_proj.weight`,
    `torch.nn.MultiheadAttention(d_model, n_heads, bias=False, batch_first=True)` agrees with the module.

    Example: one head of size 1. Queries and keys are 0, so that all scores are equal, and each token takes the
    mean of what it may see: of 2, of 2 and 4, of 2 and 4 and 9.

    >>> attention = MultiHeadSelfAttention(d_model=1, n_heads=1)
    >>> _ = attention.qkv.weight.data.copy_(torch.tensor([[0.0], [0.0], [1.0]]))
    >>> _ = attention.out.weight.data.copy_(torch.tensor([[1.0]]))
    >>> x = torch.tensor([[[2.0], [4.0], [9.0]]])
    >>> output, weights = attention(x)
    >>> output.detach().round(decimals=3)
    tensor([[[2.],
             [3.],
             [5.]]])

    Now only the first two tokens are valid. The third is padding: nobody attends to it, not even itself. As a query
    it still attends to the two before it.

    >>> output, weights = attention(x, padding_mask=torch.tensor([[False, False, True]]))
    >>> output.detach().round(decimals=3)
    tensor([[[2.],
             [3.],
             [3.]]])
    >>> weights.detach().round(decimals=3)
    tensor([[[[1.0000, 0.0000, 0.0000],
              [0.5000, 0.5000, 0.0000],
              [0.5000, 0.5000, 0.0000]]]])
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        """Create the two layers.

        Args:
            d_model: size of each input vector and of each output vector.
            n_heads: number of heads.

        Raises:
            ValueError: d_model is not divisible by n_heads.
        """
        raise NotImplementedError

    def forward(self, x: torch.Tensor, padding_mask: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Attend with every head, then mix what the heads found.

        Args:
            x: [B, T, d_model].
            padding_mask: Boolean, [B, T], True = padding, which no query attends to; left unchanged. Token 0 is never
                padding. None: every token is real.

        Returns:
            output: [B, T, d_model].
            weights: [B, H, T, T], one matrix for each of the H heads.
        """
        raise NotImplementedError
