from __future__ import annotations

import torch
import torch.nn as nn
from torch import Tensor


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, bias: bool = True) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model=} is not a multiple of {n_heads=}")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def _heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor]:
        q = self._heads(self.q_proj(query))
        k = self._heads(self.k_proj(key))
        v = self._heads(self.v_proj(value))

        scores = q @ k.transpose(-1, -2)
        scores = scores * q.shape[-1] ** -0.5
        hidden = torch.zeros(scores.shape[-2:], dtype=torch.bool)
        if is_causal:
            hidden = torch.ones_like(hidden).triu(1)
        if key_padding_mask is not None:
            hidden = hidden | key_padding_mask[:, None, None, :]
        probs = torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)

        out = (probs @ v).transpose(1, 2).flatten(2)
        return self.out_proj(out), probs
