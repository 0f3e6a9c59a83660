"""Lists of tensors, stacked at the end."""

import math

import torch
from torch import nn


def attend_one(q, keys, values):
    scores = torch.stack([torch.dot(q, k) for k in keys]) / math.sqrt(q.numel())
    weights = torch.softmax(scores, dim=0)
    return torch.stack([w * v for w, v in zip(weights, values, strict=True)]).sum(dim=0), weights


def scaled_dot_product_attention(query, key, value):
    pairs = [[attend_one(q, ks, vs) for q in qs] for qs, ks, vs in zip(query, key, value, strict=True)]
    outputs = torch.stack([torch.stack([output for output, _ in rows]) for rows in pairs])
    weights = torch.stack([torch.stack([weights for _, weights in rows]) for rows in pairs])
    return outputs, weights


def attention_with_loops(query, key, value):
    return torch.stack([attend_one(q, key, value)[0] for q in query])


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        return scaled_dot_product_attention(self.q_proj(query), self.k_proj(key), self.v_proj(value))
