"""In-place operations, but only on tensors made a line before."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads > 0:
            raise ValueError(f"d_model={d_model}, n_heads={n_heads}")
        self.d_model = d_model
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        b, n, m, h, d = len(query), query.shape[1], key.shape[1], self.n_heads, self.d_model // self.n_heads
        q = self.q_proj(query).reshape(b, n, h, d).permute(0, 2, 1, 3)
        k = self.k_proj(key).reshape(b, m, h, d).permute(0, 2, 3, 1)
        v = self.v_proj(value).reshape(b, m, h, d).permute(0, 2, 1, 3)
        scores = q @ k
        scores.div_(math.sqrt(d))
        if key_padding_mask is not None:
            scores.masked_fill_(key_padding_mask[:, None, None, :], -math.inf)
        if is_causal:
            scores.masked_fill_(torch.ones(n, m, dtype=torch.bool).triu_(1), -math.inf)
        weights = F.softmax(scores, dim=-1)
        output = (weights @ v).permute(0, 2, 1, 3).reshape(b, n, self.d_model)
        return self.out_proj(output), weights
