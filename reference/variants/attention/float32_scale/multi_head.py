"""The scale is a float32 tensor without axes, made once."""

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model / n_heads is not an integer")
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.scale = torch.sqrt(torch.tensor(self.d_head, dtype=torch.float32))
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        B, L, E = query.shape
        S = key.shape[1]
        q = self.q_proj(query).view(B, L, self.n_heads, self.d_head).transpose(1, 2)
        k = self.k_proj(key).view(B, S, self.n_heads, self.d_head).transpose(1, 2)
        v = self.v_proj(value).view(B, S, self.n_heads, self.d_head).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / self.scale
        if key_padding_mask is not None:
            scores = scores.masked_fill(key_padding_mask.unsqueeze(1).unsqueeze(2), float("-inf"))
        if is_causal:
            scores = scores.masked_fill(torch.triu(torch.ones(L, S), diagonal=1).bool(), float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(B, L, E)), weights
