"""Lists of tensors, stacked at the end."""

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.d_head = d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        outputs, weights = [], []
        for b in range(len(query)):
            padding = None if key_padding_mask is None else key_padding_mask[b]
            output, weight = self.one_sample(query[b], key[b], value[b], padding, is_causal)
            outputs.append(output)
            weights.append(weight)
        return torch.stack(outputs), torch.stack(weights)

    def one_sample(self, query, key, value, padding, is_causal):
        parts = [
            layer(x).split(self.d_head, dim=-1)
            for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        ]
        hidden = torch.zeros(len(query), len(key), dtype=torch.bool)
        if padding is not None:
            hidden = hidden | padding
        if is_causal:
            hidden = hidden | torch.ones(len(query), len(key), dtype=torch.bool).triu(1)
        outputs, weights = [], []
        for q, k, v in zip(*parts, strict=True):
            scores = (q @ k.T / math.sqrt(self.d_head)).masked_fill(hidden, -math.inf)
            weights.append(torch.softmax(scores, dim=-1))
            outputs.append(weights[-1] @ v)
        return self.out_proj(torch.cat(outputs, dim=-1)), torch.stack(weights)
