"""Scores held as [key, query], so that the softmax runs over the axis before the last."""

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        if d_model % n_heads != 0:
            raise ValueError("d_model % n_heads != 0")
        super().__init__()
        self.shape = (n_heads, d_model // n_heads)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        q = self.q_proj(query).unflatten(2, self.shape).permute(0, 2, 3, 1)  # [B, H, D, L]
        k = self.k_proj(key).unflatten(2, self.shape).permute(0, 2, 1, 3)  # [B, H, S, D]
        v = self.v_proj(value).unflatten(2, self.shape).permute(0, 2, 3, 1)  # [B, H, D, S]
        scores = k @ q / math.sqrt(self.shape[1])  # [B, H, S, L]
        hidden = torch.zeros(scores.shape[-2:], dtype=torch.bool)
        if is_causal:
            hidden = torch.ones_like(hidden).tril(-1)
        if key_padding_mask is not None:
            hidden = hidden | key_padding_mask[:, None, :, None]
        columns = scores.masked_fill(hidden, -math.inf).softmax(dim=-2)
        heads = v @ columns  # [B, H, D, L]
        return self.out_proj(heads.flatten(1, 2).mT), columns.mT
