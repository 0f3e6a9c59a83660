"""The backward pass of the attention written by hand; the projections are left to autograd."""

import torch
from single_head import Attention
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be a multiple of n_heads")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def heads(self, x):
        return x.reshape(*x.shape[:2], self.n_heads, -1).transpose(1, 2)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        bias = query.new_zeros(len(query), 1, query.shape[1], key.shape[1])
        if key_padding_mask is not None:
            bias.masked_fill_(key_padding_mask[:, None, None], float("-inf"))
        if is_causal:
            bias.masked_fill_(torch.ones_like(bias).triu(1).bool(), float("-inf"))
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        output, weights = Attention.apply(self.heads(q), self.heads(k), self.heads(v), bias)
        return self.out_proj(output.transpose(1, 2).flatten(2)), weights
