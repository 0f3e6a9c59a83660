"""Samples and heads one after the other."""

import math

import torch
from torch import nn


def attend(q, k, v):
    weights = torch.softmax(q @ k.t() / math.sqrt(k.shape[1]), dim=1)
    return weights @ v, weights


def scaled_dot_product_attention(query, key, value):
    outputs, all_weights = [], []
    for q, k, v in zip(query, key, value, strict=True):
        output, weights = attend(q, k, v)
        outputs.append(output)
        all_weights.append(weights)
    return torch.stack(outputs), torch.stack(all_weights)


def attention_with_loops(query, key, value):
    rows = []
    for q in query:
        scores = torch.stack([q.dot(k) for k in key]) / math.sqrt(len(q))
        weights = torch.softmax(scores, dim=0)
        row = torch.zeros_like(value[0])
        for weight, v in zip(weights, value, strict=True):
            row = row + weight * v
        rows.append(row)
    return torch.stack(rows)


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        return scaled_dot_product_attention(self.q_proj(query), self.k_proj(key), self.v_proj(value))
