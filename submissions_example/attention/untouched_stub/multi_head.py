"""Attention with several heads. Replace each `raise NotImplementedError` by your code; keep the names.

Mind the padding mask: it follows `torch.nn.MultiheadAttention`, where True = padding, ignored. That is the
opposite of `masked.py`, where True = may attend.

Run the example below with `python -m doctest multi_head.py`: silence means that it agrees.
"""

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """Several attention heads side by side, each on its own slice of the projected vectors.

    Has exactly four layers: the `nn.Linear` modules `q_proj`, `k_proj`, `v_proj` and `out_proj`, each from
    d_model to d_model. Head h works on elements h * d_head up to, not including, (h + 1) * d_head of the
    three projections, where d_head = d_model / n_heads. The heads' outputs stand in the same order at the
    entrance of `out_proj`. With the same weights, the module agrees with
    `torch.nn.MultiheadAttention(d_model, n_heads, batch_first=True)`.

    Example: two heads of size 1, and layers that change nothing. Head 0 sees the query ln 3 and the keys 1
    and 0, which gives the weights 3/4 and 1/4 and the output 3/4 * 4 + 1/4 * 8 = 5. Head 1 sees the query
    0, which gives equal weights and the output (10 + 30) / 2 = 20. When the second key is padding, both
    heads take the first value.

    >>> import math
    >>> attention = MultiHeadAttention(d_model=2, n_heads=2, bias=False)
    >>> for layer in (attention.q_proj, attention.k_proj, attention.v_proj, attention.out_proj):
    ...     _ = nn.init.eye_(layer.weight)
    >>> query = torch.tensor([[[math.log(3), 0.0]]])
    >>> key = torch.tensor([[[1.0, 1.0], [0.0, 0.0]]])
    >>> value = torch.tensor([[[4.0, 10.0], [8.0, 30.0]]])
    >>> output, weights = attention(query, key, value)
    >>> weights.detach().round(decimals=3)
    tensor([[[[0.7500, 0.2500]],
    <BLANKLINE>
             [[0.5000, 0.5000]]]])
    >>> output.detach().round(decimals=3)
    tensor([[[ 5., 20.]]])
    >>> output, weights = attention(query, key, value, key_padding_mask=torch.tensor([[False, True]]))
    >>> output.detach()
    tensor([[[ 4., 10.]]])
    """

    def __init__(self, d_model: int, n_heads: int, bias: bool = True) -> None:
        """Create the four layers.

        Args:
            d_model: size of each input vector and of each output vector.
            n_heads: number of heads.
            bias: whether the four layers have a bias.

        Raises:
            ValueError: d_model is not divisible by n_heads.
        """
        raise NotImplementedError

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        key_padding_mask: torch.Tensor | None = None,
        is_causal: bool = False,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Attend with every head, then mix what the heads found.

        Args:
            query: [B, L, d_model].
            key: [B, S, d_model].
            value: [B, S, d_model]. The three inputs may be three unrelated tensors.
            key_padding_mask: Boolean, [B, S], True = padding, ignored; left unchanged. None: every key is
                real.
            is_causal: if True, query i may attend to keys 0 to i only, as in `masked.py`.

        Returns:
            output: [B, L, d_model].
            weights: [B, H, L, S], one matrix for each of the H heads.
        """
        raise NotImplementedError
