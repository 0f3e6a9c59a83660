"""Broadcast products instead of matrix products, and not a single loop."""

import torch
from torch import nn


def scaled_dot_product_attention(query, key, value):
    products = query.unsqueeze(2) * key.unsqueeze(1)  # [B, L, S, D]
    weights = torch.softmax(products.sum(-1) / query.size(-1) ** 0.5, dim=-1)
    return (weights.unsqueeze(-1) * value.unsqueeze(1)).sum(2), weights


def attention_with_loops(query, key, value):
    output, _ = scaled_dot_product_attention(query.unsqueeze(0), key.unsqueeze(0), value.unsqueeze(0))
    return output.squeeze(0)


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        return scaled_dot_product_attention(self.q_proj(query), self.k_proj(key), self.v_proj(value))
