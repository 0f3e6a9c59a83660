"""In-place operations, but only on tensors made a line before."""

import math

import torch
from torch import nn
from torch.nn import functional as F


def scaled_dot_product_attention(query, key, value):
    scores = torch.matmul(query, key.transpose(-2, -1))
    scores /= math.sqrt(query.shape[-1])
    weights = F.softmax(scores, dim=-1)
    return torch.matmul(weights, value), weights


def attention_with_loops(query, key, value):
    length, d = query.shape
    scores = torch.zeros((length, len(key)), dtype=query.dtype)
    for i in range(length):
        for j in range(len(key)):
            scores[i, j] += query[i] @ key[j]
    scores /= math.sqrt(d)
    weights = F.softmax(scores, dim=-1)
    output = torch.zeros((length, value.shape[1]), dtype=query.dtype)
    for i in range(length):
        for j in range(len(key)):
            output[i] += weights[i, j] * value[j]
    return output


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        q = self.q_proj(query)
        q /= math.sqrt(q.shape[-1])
        weights = F.softmax(q @ self.k_proj(key).transpose(-2, -1), dim=-1)
        return weights @ self.v_proj(value), weights
