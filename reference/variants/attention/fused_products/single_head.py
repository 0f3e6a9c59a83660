"""bmm and baddbmm, with the scale as their alpha."""

import torch
from torch import nn


def scaled_dot_product_attention(query, key, value):
    empty = torch.empty((), dtype=query.dtype)
    scores = torch.baddbmm(empty, query, key.transpose(1, 2), beta=0, alpha=query.size(2) ** -0.5)
    weights = torch.nn.functional.softmax(scores, dim=2)
    return torch.bmm(weights, value), weights


def attention_with_loops(query, key, value):
    alpha = query.size(1) ** -0.5
    rows = []
    for i in range(query.size(0)):
        row = torch.mv(key, query[i]).mul(alpha).softmax(0)
        acc = torch.zeros(value.size(1), dtype=value.dtype)
        for j in range(key.size(0)):
            acc = torch.add(acc, value[j] * row[j])
        rows.append(acc)
    return torch.vstack(rows)


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.layers = ["q_proj", "k_proj", "v_proj"]
        for name in self.layers:
            self.register_module(name, nn.Linear(d_model, d_head))

    def forward(self, *inputs):
        projected = [getattr(self, name)(x) for name, x in zip(self.layers, inputs, strict=True)]
        return scaled_dot_product_attention(*projected)
