"""Heads as the leading axis: [H, B, T, D]."""

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads must divide the width")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def heads_first(self, x):
        return torch.stack(x.chunk(self.n_heads, dim=-1))

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        q = self.heads_first(self.q_proj(query))
        k = self.heads_first(self.k_proj(key))
        v = self.heads_first(self.v_proj(value))
        scores = q.matmul(k.transpose(2, 3)).div(q.shape[3] ** 0.5)  # [H, B, L, S]
        if key_padding_mask is not None:
            scores = scores.masked_fill(key_padding_mask[None, :, None, :], float("-inf"))
        if is_causal:
            allowed = torch.ones(scores.shape[2:], dtype=torch.bool).tril()
            scores = scores.masked_fill(~allowed, float("-inf"))
        weights = scores.softmax(3)
        joined = torch.cat(list(weights.matmul(v)), dim=-1)
        return self.out_proj(joined), weights.transpose(0, 1)
