"""One thing after the other, with a softmax written out."""

import torch
from torch import nn


def softmax_of_rows(scores):
    exps = torch.exp(scores - scores.max(dim=1, keepdim=True).values)
    return exps / exps.sum(dim=1, keepdim=True)


def scaled_dot_product_attention(query, key, value):
    D = query.shape[2]
    outputs, weights = [], []
    for b in range(query.shape[0]):
        scores = torch.mm(query[b], key[b].t()) / D**0.5
        rows = softmax_of_rows(scores)
        outputs.append(torch.mm(rows, value[b]))
        weights.append(rows)
    return torch.stack(outputs), torch.stack(weights)


def attention_with_loops(query, key, value):
    L, D = query.shape
    S = key.shape[0]
    output = []
    for i in range(L):
        scores = torch.zeros(S, dtype=query.dtype)
        for j in range(S):
            scores[j] = torch.dot(query[i], key[j]) / D**0.5
        exps = torch.exp(scores - scores.max(dim=0).values)
        total = exps.sum()
        row = torch.zeros(value.shape[1], dtype=value.dtype)
        for j in range(S):
            row = row + exps[j] / total * value[j]
        output.append(row)
    return torch.stack(output)


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
        output, weights = scaled_dot_product_attention(q, k, v)
        return output, weights
