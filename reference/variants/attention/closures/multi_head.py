"""Functions that make functions, and torch.vmap over the heads."""

import functools

import torch
from torch import nn


def one_head(q, k, v, hidden):
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    weights = torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)
    return weights @ v, weights


all_heads = torch.vmap(one_head, in_dims=(2, 2, 2, None), out_dims=(2, 1))


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads of unequal size")
        make = functools.partial(nn.Linear, d_model, d_model, bias=bias)
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (make() for _ in range(4))
        self._split = lambda x: x.unflatten(-1, (n_heads, d_model // n_heads))

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        hidden = torch.zeros(len(query), query.shape[1], key.shape[1], dtype=torch.bool)
        if key_padding_mask is not None:
            hidden |= key_padding_mask[:, None]
        if is_causal:
            hidden |= torch.arange(key.shape[1]) > torch.arange(query.shape[1])[:, None]
        split = self._split
        projected = (split(self.q_proj(query)), split(self.k_proj(key)), split(self.v_proj(value)))
        output, weights = all_heads(*projected, hidden)
        return self.out_proj(output.flatten(2)), weights
