# HW3 part 1, single-head attention.

import math

import torch
from torch import nn


def scaled_dot_product_attention(query, key, value):
    d = query.shape[-1]
    logits = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d)
    alpha = torch.softmax(logits, dim=-1)
    output = torch.matmul(alpha, value)
    return output, alpha


def attention_with_loops(query, key, value):
    L, d = query.shape
    S = key.shape[0]
    output = query.new_zeros((L, value.shape[1]))
    for i in range(L):
        # new tensor in every iteration, otherwise backward() complains
        logits = query.new_zeros(S)
        for j in range(S):
            logits[j] = torch.dot(query[i], key[j]) / math.sqrt(d)
        alpha = torch.softmax(logits, dim=0)
        for j in range(S):
            output[i] += alpha[j] * value[j]
    return output


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
        return scaled_dot_product_attention(q, k, v)
