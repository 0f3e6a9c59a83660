"""One stacked projection made on the fly, taken apart again with chunk and unbind."""

import torch
import torch.nn.functional as F
from torch import nn


def scaled_dot_product_attention(query, key, value):
    results = []
    for q, k, v in zip(query.unbind(), key.unbind(), value.unbind(), strict=True):
        weights = F.softmax(torch.addmm(q.new_zeros(()), q, k.t(), alpha=q.size(1) ** -0.5), dim=1)
        results.append((weights @ v, weights))
    return tuple(map(torch.stack, zip(*results, strict=True)))


def attention_with_loops(query, key, value):
    rows = []
    for q in query.unbind(0):
        row = [(q * k).sum(dim=0, keepdim=True) for k in key.unbind(0)]
        weights = F.softmax(torch.cat(row) / q.size(0) ** 0.5, dim=0)
        rows.append(sum(w * v for w, v in zip(weights.unbind(0), value.unbind(0), strict=True)))
    return torch.stack(rows, 0)


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        weight = torch.cat([self.q_proj.weight, self.k_proj.weight, self.v_proj.weight])
        bias = torch.cat([self.q_proj.bias, self.k_proj.bias, self.v_proj.bias])
        q, _, _ = F.linear(query, weight, bias).chunk(3, dim=-1)
        _, k, _ = F.linear(key, weight, bias).chunk(3, dim=-1)
        _, _, v = F.linear(value, weight, bias).chunk(3, dim=-1)
        return scaled_dot_product_attention(q, k, v)
