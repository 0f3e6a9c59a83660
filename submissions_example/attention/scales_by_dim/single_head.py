# Assignment: attention
# based on my notes from lecture 7

import torch
import torch.nn as nn
import torch.nn.functional as F


def scaled_dot_product_attention(query, key, value):
    "Compute 'Scaled Dot Product Attention'"
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / d_k
    p_attn = F.softmax(scores, dim=-1)
    return torch.matmul(p_attn, value), p_attn


def attention_with_loops(query, key, value):
    L, S = query.size(0), key.size(0)
    d_k = query.size(-1)
    out = []
    for i in range(L):
        s = []
        for j in range(S):
            s.append((query[i] * key[j]).sum() / d_k)
        p = F.softmax(torch.stack(s), dim=0)
        out.append(torch.matmul(p, value))
    return torch.stack(out)


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super(SingleHeadAttention, self).__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        query, key, value = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        return scaled_dot_product_attention(query, key, value)
