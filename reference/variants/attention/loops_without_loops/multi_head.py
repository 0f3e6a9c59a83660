"""Broadcast products instead of matrix products, heads on an axis of their own."""

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model % n_heads must be 0")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        q = self.q_proj(query)[:, :, None, :]
        k = self.k_proj(key)[:, None, :, :]
        v = self.v_proj(value)[:, None, :, :]
        products = (q * k).unflatten(-1, (self.n_heads, -1))  # [B, L, S, H, D]
        scores = products.sum(-1) / products.size(-1) ** 0.5  # [B, L, S, H]
        allowed = torch.ones(1, q.size(1), k.size(2), 1, dtype=torch.bool)
        if is_causal:
            allowed = (torch.arange(q.size(1))[:, None] >= torch.arange(k.size(2)))[None, :, :, None]
        if key_padding_mask is not None:
            allowed = allowed & ~key_padding_mask[:, None, :, None]
        weights = torch.where(allowed, scores, -torch.inf).softmax(2)
        mixed = weights.unsqueeze(-1) * v.unflatten(-1, (self.n_heads, -1))
        return self.out_proj(mixed.sum(2).flatten(2)), weights.permute(0, 3, 1, 2)
