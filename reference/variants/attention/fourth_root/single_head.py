"""Query and key are each scaled by the fourth root, which keeps their product small from the start."""

import torch
from torch import nn


def scaled_dot_product_attention(query, key, value):
    root = query.shape[-1] ** 0.25
    weights = ((query / root) @ (key / root).transpose(-1, -2)).softmax(dim=-1)
    return weights @ value, weights


def attention_with_loops(query, key, value):
    root = query.shape[-1] ** 0.25
    output = value.new_zeros(query.shape[0], value.shape[-1])
    for i, q in enumerate(query / root):
        scores = []
        for k in key / root:
            scores.append((q * k).sum())
        output[i] = (torch.stack(scores).softmax(0)[:, None] * value).sum(0)
    return output


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        return scaled_dot_product_attention(self.q_proj(query), self.k_proj(key), self.v_proj(value))
