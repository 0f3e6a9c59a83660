"""Scores held as [key, query], so that the softmax runs over the axis before the last."""

import math

import torch
from torch import nn


def scaled_dot_product_attention(query, key, value):
    scores = torch.bmm(key, query.mT) / math.sqrt(query.size(2))
    columns = torch.softmax(scores, dim=1)
    output = torch.bmm(value.mT, columns).mT
    return output, columns.mT


def attention_with_loops(query, key, value):
    columns = []
    for q in query:
        column = [sum(a * b for a, b in zip(q, k, strict=True)) / math.sqrt(len(q)) for k in key]
        columns.append(torch.stack(column).softmax(0))
    return (value.T @ torch.stack(columns, dim=1)).T


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.k_proj = nn.Linear(d_model, d_head)
        self.q_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        return scaled_dot_product_attention(self.q_proj(query), self.k_proj(key), self.v_proj(value))
