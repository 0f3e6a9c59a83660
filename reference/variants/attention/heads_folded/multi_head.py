"""Heads folded into the batch, head after head; the mask is repeated to match."""

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"cannot split {d_model} into {n_heads}")
        self.n_heads = n_heads
        for letter in ("q", "k", "v", "out"):
            setattr(self, letter + "_proj", nn.Linear(d_model, d_model, bias=bias))

    def fold(self, x):
        """[B, T, H * D] to [H * B, T, D]: all samples of head 0 first."""
        return torch.cat(x.split(x.size(-1) // self.n_heads, dim=-1), dim=0)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        b, l, s = query.size(0), query.size(1), key.size(1)  # noqa: E741
        q, k, v = self.fold(self.q_proj(query)), self.fold(self.k_proj(key)), self.fold(self.v_proj(value))
        scores = torch.bmm(q, k.permute(0, 2, 1)).mul(q.size(-1) ** (-1 / 2))
        hide = torch.zeros(b, l, s, dtype=torch.bool)
        if key_padding_mask is not None:
            hide = hide.logical_or(key_padding_mask.unsqueeze(1))
        if is_causal:
            hide = hide.logical_or(torch.ones(l, s, dtype=torch.bool).triu(1))
        weights = scores.masked_fill(hide.repeat(self.n_heads, 1, 1), -torch.inf).softmax(dim=-1)
        output = torch.cat(torch.bmm(weights, v).split(b, dim=0), dim=-1)
        return self.out_proj(output), weights.view(self.n_heads, b, l, s).permute(1, 0, 2, 3)
