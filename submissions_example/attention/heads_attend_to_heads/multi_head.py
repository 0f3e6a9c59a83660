"""Homework 3, part 3: multi-head attention."""

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model={d_model} cannot be split into {n_heads} heads")
        self.heads, self.d_head = n_heads, d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        batch, n_queries, d_model = query.shape
        n_keys = key.shape[1]

        # one slice of every vector for each head
        q = self.q_proj(query).view(batch, n_queries, self.heads, self.d_head)
        k = self.k_proj(key).view(batch, n_keys, self.heads, self.d_head)
        v = self.v_proj(value).view(batch, n_keys, self.heads, self.d_head)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if is_causal:
            later = torch.ones(n_queries, n_keys, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(later, -math.inf)
        if key_padding_mask is not None:
            scores = scores.masked_fill(key_padding_mask[:, None, None, :], -math.inf)
        weights = scores.softmax(dim=-1)

        output = (weights @ v).reshape(batch, n_queries, d_model)
        return self.out_proj(output), weights
