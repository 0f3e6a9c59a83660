"""Attention with a single head."""

import math

import torch
from torch import nn


def sdpa(q, k, v):
    d = q.size(-1)
    s = q @ k.transpose(-2, -1)
    s = s / math.sqrt(d)
    p = torch.softmax(s, dim=-1)
    y = p @ v
    return y, p


def scaled_dot_product_attention(query, key, value):
    return sdpa(query, key, value)


def attention_with_loops(query, key, value):
    L, D = query.shape
    S = key.shape[0]
    out = query.new_zeros(L, value.shape[1])
    for i in range(L):
        w = query.new_zeros(S)
        for j in range(S):
            dot = (query[i] * key[j]).sum()
            w[j] = dot / math.sqrt(D)
        w = torch.softmax(w, dim=0)
        out[i] = w @ value
    return out


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        q = self.q_proj(query)
        k = self.k_proj(key)
        v = self.v_proj(value)
        y, p = sdpa(q, k, v)
        return y, p
