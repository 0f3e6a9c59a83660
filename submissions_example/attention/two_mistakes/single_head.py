import torch
import torch.nn as nn
import math


def scaled_dot_product_attention(query, key, value):
    dim = query.shape[2]
    key_t = key.transpose(1, 2)
    scores = torch.bmm(query, key_t)
    scores = scores / math.sqrt(dim)
    weights = torch.softmax(scores, dim=2)
    out = torch.bmm(weights, value)
    return out, weights


def attention_with_loops(query, key, value):
    n_q = query.shape[0]
    n_k = key.shape[0]
    dim = query.shape[1]
    out = torch.zeros(n_q, value.shape[1], dtype=query.dtype)
    for i in range(n_q):
        scores = torch.zeros(n_k, dtype=query.dtype)
        for j in range(n_k):
            product = query[i] * key[j]
            scores[j] = torch.sum(product) / math.sqrt(dim)
        weights = torch.softmax(scores, dim=0)
        total = torch.zeros(value.shape[1], dtype=query.dtype)
        for j in range(n_k):
            total = total + weights[j] * value[j]
        out[i] = total
    return out


class SingleHeadAttention(nn.Module):

    def __init__(self, d_model, d_head):
        super().__init__()
        self.d_model = d_model
        self.d_head = d_head
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        projected_query = self.q_proj(query)
        projected_key = self.k_proj(key)
        projected_value = self.v_proj(value)
        out, weights = scaled_dot_product_attention(projected_query, projected_key, projected_value)
        return out, weights
