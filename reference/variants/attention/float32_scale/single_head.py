"""The scale is a float32 tensor without axes, which leaves the dtype of the scores alone."""

import torch
from torch import nn


def scaled_dot_product_attention(query, key, value):
    scale = torch.sqrt(torch.tensor(query.shape[-1], dtype=torch.float32))
    scores = query @ key.transpose(-2, -1) / scale
    weights = torch.softmax(scores, -1)
    return weights @ value, weights


def attention_with_loops(query, key, value):
    scale = torch.sqrt(torch.tensor(query.shape[-1], dtype=torch.float32))
    out = torch.zeros(query.shape[0], value.shape[1], dtype=query.dtype)
    for i in range(query.shape[0]):
        scores = torch.zeros(key.shape[0], dtype=query.dtype)
        for j in range(key.shape[0]):
            scores[j] = query[i] @ key[j] / scale
        weights = torch.softmax(scores, 0)
        for j in range(key.shape[0]):
            out[i] += weights[j] * value[j]
    return out


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        return scaled_dot_product_attention(self.q_proj(query), self.k_proj(key), self.v_proj(value))
