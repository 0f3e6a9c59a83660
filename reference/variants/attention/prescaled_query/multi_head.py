"""The query is scaled inside the projection's result, out of place."""

import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super(MultiHeadAttention, self).__init__()
        d_head, rest = divmod(d_model, n_heads)
        if rest:
            raise ValueError("n_heads must divide d_model")
        self.d_head, self.n_heads = d_head, n_heads
        self.scale = d_head**-0.5
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        batch, queries, keys = query.size(0), query.size(1), key.size(1)
        q = (self.q_proj(query) * self.scale).view(batch, queries, self.n_heads, self.d_head).transpose(1, 2)
        k = self.k_proj(key).view(batch, keys, self.n_heads, self.d_head).permute(0, 2, 3, 1)
        v = self.v_proj(value).view(batch, keys, self.n_heads, self.d_head).transpose(1, 2)
        bias = torch.zeros(batch, 1, queries, keys, dtype=q.dtype)
        if is_causal:
            later = torch.arange(keys) > torch.arange(queries).unsqueeze(1)
            bias = bias.masked_fill(later, float("-inf"))
        if key_padding_mask is not None:
            bias = bias.masked_fill(key_padding_mask.view(batch, 1, 1, keys), float("-inf"))
        weights = torch.softmax(torch.matmul(q, k) + bias, dim=-1)
        output = torch.matmul(weights, v).transpose(1, 2).contiguous().view(batch, queries, -1)
        return self.out_proj(output), weights
