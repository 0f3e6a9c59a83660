'''
attention homework
I implemented stable_softmax myself to understand it better (stable version from the slides)
'''
import math

import torch
from torch import nn


def stable_softmax(x):
    x = x - x.max(dim=-1, keepdim=True)[0]
    exps = torch.exp(x)
    return exps / exps.sum(dim=-1, keepdim=True)


def scaled_dot_product_attention(query, key, value):
    scores = query @ key.permute(0, 2, 1) / math.sqrt(query.shape[-1])
    a = stable_softmax(scores)
    return a @ value, a


def attention_with_loops(query, key, value):
    L, S = query.shape[0], key.shape[0]
    out = torch.zeros(L, value.shape[1], dtype=value.dtype)
    scores = torch.zeros(L, S, dtype=value.dtype)
    for i in range(L):
        for j in range(S):
            scores[i, j] = query[i].dot(key[j])
    a = stable_softmax(scores / math.sqrt(query.shape[1]))
    for i in range(L):
        for j in range(S):
            out[i] = out[i] + a[i, j] * value[j]
    return out


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        return scaled_dot_product_attention(q, k, v)
