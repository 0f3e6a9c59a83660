"""Heads taken apart with chunk, one by one, and weights stacked."""

import torch
from masked import attention_mask
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model} % {n_heads} = {d_model % n_heads}, should be 0")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        mask = attention_mask(query.size(1), key.size(1), is_causal=is_causal)
        if key_padding_mask is not None:
            mask = mask.logical_and(key_padding_mask.logical_not().unsqueeze(1))
        projected = (self.q_proj(query), self.k_proj(key), self.v_proj(value))
        chunks = (x.chunk(self.n_heads, -1) for x in projected)
        weights, output = [], 0
        out_columns = self.out_proj.weight.chunk(self.n_heads, 1)
        for q, k, v, columns in zip(*chunks, out_columns, strict=True):
            scores = q @ k.mT * q.size(-1) ** -0.5
            weights.append(scores.masked_fill(mask.logical_not(), -torch.inf).softmax(-1))
            output = output + weights[-1] @ v @ columns.t()  # joining heads is a sum over columns
        if self.out_proj.bias is not None:
            output = output + self.out_proj.bias
        return output, torch.stack(weights, 1)
