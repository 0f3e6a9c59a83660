"""Three projections in one product where the three inputs are one tensor; scores from baddbmm."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def scaled_dot_product_attention(query, key, value):
    nothing = query.new_zeros(query.size(0), query.size(1), key.size(1))
    alpha = 1 / math.sqrt(query.size(2))
    logits = torch.baddbmm(nothing, query, key.mT, alpha=alpha)
    probs = F.softmax(logits, dim=2)
    return torch.bmm(probs, value), probs


def attention_with_loops(query, key, value):
    alpha = 1 / math.sqrt(query.size(1))
    rows = []
    for q in query.unbind():
        logits = []
        for k in key.unbind():
            logits.append(q.dot(k) * alpha)
        probs = F.softmax(torch.stack(logits), dim=0)
        rows.append(sum(p * v for p, v in zip(probs.unbind(), value.unbind(), strict=True)))
    return torch.stack(rows)


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_model, d_head) for _ in range(3))

    def forward(self, query, key, value):
        layers = [self.q_proj, self.k_proj, self.v_proj]
        if query is key and key is value:
            weight = torch.cat([layer.weight for layer in layers])
            bias = torch.cat([layer.bias for layer in layers])
            q, k, v = F.linear(query, weight, bias).chunk(3, dim=2)
        else:
            q, k, v = (layer(x) for layer, x in zip(layers, [query, key, value], strict=True))
        return scaled_dot_product_attention(q, k, v)
