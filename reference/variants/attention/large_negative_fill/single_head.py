"""The style of many tutorials: a shared `attention` with a mask of 0 and 1 and a fill of -1e9."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def attention(query, key, value, mask=None, dropout=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = F.softmax(scores, dim=-1)
    if dropout is not None:
        p_attn = dropout(p_attn)
    return torch.matmul(p_attn, value), p_attn


def scaled_dot_product_attention(query, key, value):
    return attention(query, key, value)


def attention_with_loops(query, key, value):
    n, m = query.size(0), key.size(0)
    scores = torch.empty(n, m, dtype=query.dtype, device=query.device)
    for i in range(n):
        for j in range(m):
            scores[i][j] = torch.sum(query[i] * key[j])
    p_attn = F.softmax(scores / math.sqrt(query.size(-1)), dim=-1)
    return p_attn @ value


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        return attention(self.q_proj(query), self.k_proj(key), self.v_proj(value))
