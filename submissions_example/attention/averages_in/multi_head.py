"""Homework 3, part 3: multi-head attention."""

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model ({d_model}) must be divisible by n_heads ({n_heads})")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def _split_heads(self, x):
        batch, length, _ = x.shape
        return x.reshape(batch, length, self.n_heads, self.d_head).transpose(1, 2)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        q = self._split_heads(self.q_proj(query))
        k = self._split_heads(self.k_proj(key))
        v = self._split_heads(self.v_proj(value))

        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_head)    # (B, H, L, S)

        if key_padding_mask is not None:
            # careful, here True means padding!
            scores = scores.masked_fill(key_padding_mask[:, None, None, :], float("-inf"))
        if is_causal:
            future = torch.triu(torch.ones(scores.shape[-2:], dtype=torch.bool), diagonal=1)
            scores = scores.masked_fill(future, float("-inf"))

        weights = torch.softmax(scores, dim=-1)
        heads = torch.matmul(weights, v)                                          # (B, H, L, D)
        heads = heads.transpose(1, 2).reshape(query.shape[0], query.shape[1], -1)
        return self.out_proj(heads), weights
