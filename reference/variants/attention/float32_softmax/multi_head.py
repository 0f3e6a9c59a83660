"""The softmax in float32, as in mixed precision; everything else in the dtype of the inputs."""

import math

import torch
from torch import nn
from torch.nn.functional import softmax


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.register_buffer("later", torch.ones(64, 64, dtype=torch.bool).triu(1), persistent=False)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        (b, n, e), m, h = query.shape, key.size(1), self.n_heads
        q = self.q_proj(query).view(b, n, h, e // h).transpose(1, 2)
        k = self.k_proj(key).view(b, m, h, e // h).transpose(1, 2)
        v = self.v_proj(value).view(b, m, h, e // h).transpose(1, 2)
        scores = q @ k.transpose(2, 3) / math.sqrt(e // h)
        lowest = torch.finfo(scores.dtype).min
        if key_padding_mask is not None:
            scores = scores.masked_fill(key_padding_mask[:, None, None], lowest)
        if is_causal:
            scores = scores.masked_fill(self.later[:n, :m], lowest)
        weights = softmax(scores, dim=-1, dtype=torch.float32).type_as(query)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(b, n, e)), weights
