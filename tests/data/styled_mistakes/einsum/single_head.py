"""Every product is an einsum: b batch, i query, j key, c channel of query and key, z channel of value."""

import torch
from torch import einsum, nn


def scaled_dot_product_attention(query, key, value):
    temperature = query.size(-1) ** 0.5
    affinity = einsum("bic,bjc->bij", query, key) / temperature
    attn = affinity.softmax(dim=-1)
    return einsum("bij,bjz->biz", attn, value), attn


def attention_with_loops(query, key, value):
    temperature = query.size(-1) ** 0.5
    found = []
    for one in query:
        affinity = query.new_zeros(len(key))
        for j in range(len(key)):
            affinity[j] = einsum("c,c->", one, key[j]) / temperature
        attn = affinity.softmax(dim=0)
        found.append(einsum("j,jz->z", attn, value))
    return torch.stack(found)


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        asked = self.q_proj(query)
        offered = self.k_proj(key)
        content = self.v_proj(value)
        return scaled_dot_product_attention(asked, offered, content)
