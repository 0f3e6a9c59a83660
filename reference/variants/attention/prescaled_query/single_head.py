"""The query is scaled before the product, out of place."""

import torch
import torch.nn as nn


def scaled_dot_product_attention(query, key, value):
    query = query / query.size(-1) ** 0.5
    weights = torch.softmax(torch.matmul(query, key.transpose(1, 2)), dim=2)
    return torch.matmul(weights, value), weights


def attention_with_loops(query, key, value):
    query = query / query.size(-1) ** 0.5
    rows = torch.zeros(query.size(0), value.size(1), dtype=query.dtype)
    for i in range(query.size(0)):
        scores = torch.zeros(key.size(0), dtype=query.dtype)
        for j in range(key.size(0)):
            scores[j] = torch.dot(query[i], key[j])
        weights = scores.softmax(0)
        for j in range(key.size(0)):
            rows[i] = rows[i] + weights[j] * value[j]
    return rows


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super(SingleHeadAttention, self).__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        query, key, value = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        return scaled_dot_product_attention(query, key, value)
