"""Attention with several heads."""

import math

import torch
from torch import nn


def sdpa(q, k, v, mask=None):
    d = q.size(-1)
    s = q @ k.transpose(-2, -1)
    s = s / math.sqrt(d)
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    p = torch.softmax(s, dim=-1)
    y = p @ v
    return y, p


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.H = n_heads
        self.D = d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def split(self, x):
        B, T, _ = x.shape
        x = x.view(B, T, self.H, self.D)
        return x.transpose(1, 2)

    def merge(self, y):
        B, H, T, D = y.shape
        y = y.transpose(1, 2)
        return y.reshape(B, T, H * D)

    def make_mask(self, query, key, key_padding_mask, is_causal):
        mask = None
        if key_padding_mask is not None:
            real = ~key_padding_mask
            mask = real[:, None, None, :]
        if is_causal:
            past = torch.ones(query.size(1), key.size(1), dtype=torch.bool).tril()
            past = past[None, None, :, :]
            mask = past if mask is None else mask & past
        return mask

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        mask = self.make_mask(query, key, key_padding_mask, is_causal)
        q = self.q_proj(query)
        k = self.k_proj(key)
        v = self.v_proj(value)
        q = self.split(q)
        k = self.split(k)
        v = self.split(v)
        y, p = sdpa(q, k, v, mask)
        y = self.merge(y)
        y = self.out_proj(y)
        return y, p
