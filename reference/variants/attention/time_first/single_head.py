"""Time first, [T, B, D], and scores as [query, key, batch]: the softmax runs over axis 1."""

import torch
from torch import nn


def attend(query, key, value):
    """[L, B, D], [S, B, D], [S, B, V] to [L, B, V] and [L, S, B]."""
    scores = torch.einsum("lbd,sbd->lsb", query, key) / query.size(-1) ** 0.5
    weights = torch.softmax(scores, dim=1)
    return torch.einsum("lsb,sbv->lbv", weights, value), weights


def scaled_dot_product_attention(query, key, value):
    output, weights = attend(query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1))
    return output.transpose(0, 1), weights.permute(2, 0, 1)


def attention_with_loops(query, key, value):
    rows = []
    for t in range(query.size(0)):
        scores = [torch.inner(query[t], key[u]) / query.size(-1) ** 0.5 for u in range(key.size(0))]
        rows.append(torch.stack(scores).softmax(dim=0).unsqueeze(0) @ value)
    return torch.cat(rows)


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        time_first = [self.q_proj(query), self.k_proj(key), self.v_proj(value)]
        output, weights = attend(*[x.transpose(0, 1) for x in time_first])
        return output.transpose(0, 1), weights.permute(2, 0, 1)
