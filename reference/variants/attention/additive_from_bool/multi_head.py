"""All masks are added up as biases; the heads go through `masked_attention` in one large batch."""

import math

import torch
from masked import masked_attention
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model is not divisible by n_heads")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        B, L, E = query.shape
        S, H = key.shape[1], self.n_heads

        bias = torch.zeros(B, 1, L, S, dtype=query.dtype)
        if is_causal:
            bias = bias + torch.full((L, S), -math.inf, dtype=query.dtype).triu(1)
        if key_padding_mask is not None:
            padding = torch.zeros(B, 1, 1, S, dtype=query.dtype)
            bias = bias + padding.masked_fill(key_padding_mask[:, None, None, :], -math.inf)

        def fold(x):
            return x.view(B, -1, H, E // H).transpose(1, 2).reshape(B * H, -1, E // H)

        output, weights = masked_attention(
            fold(self.q_proj(query)),
            fold(self.k_proj(key)),
            fold(self.v_proj(value)),
            bias.expand(B, H, L, S).reshape(B * H, L, S),
        )
        output = output.view(B, H, L, E // H).transpose(1, 2).reshape(B, L, E)
        return self.out_proj(output), weights.view(B, H, L, S)
