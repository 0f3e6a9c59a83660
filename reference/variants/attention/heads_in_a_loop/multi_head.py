"""One head after the other, each on a slice of the projections."""

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model has to be a multiple of n_heads")
        size = d_model // n_heads
        self.slices = [slice(h * size, (h + 1) * size) for h in range(n_heads)]
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        forbidden = torch.zeros(len(query), query.shape[1], key.shape[1], dtype=torch.bool)
        if key_padding_mask is not None:
            forbidden = forbidden | key_padding_mask[:, None, :]
        if is_causal:
            forbidden = forbidden | torch.ones_like(forbidden).triu(1)
        outputs, weights = [], []
        for part in self.slices:
            scores = q[..., part] @ k[..., part].transpose(1, 2) / math.sqrt(part.stop - part.start)
            weights.append(scores.masked_fill(forbidden, -math.inf).softmax(dim=2))
            outputs.append(weights[-1] @ v[..., part])
        return self.out_proj(torch.cat(outputs, dim=2)), torch.stack(weights, dim=1)
