"""Buffers taken from the inputs with `new` and `type_as`."""

import numpy as np
import torch
import torch.nn as nn


class ScaledDotProductAttention(nn.Module):
    def forward(self, Q, K, V):
        scores = torch.matmul(Q, K.transpose(-1, -2)) / np.sqrt(Q.shape[-1])
        attn = nn.Softmax(dim=-1)(scores)
        context = torch.matmul(attn, V)
        return context, attn


def scaled_dot_product_attention(query, key, value):
    return ScaledDotProductAttention()(query, key, value)


def attention_with_loops(query, key, value):
    context = torch.zeros(len(query), value.shape[1]).type_as(query)
    for i in range(len(query)):
        scores = torch.zeros(len(key)).type_as(query)
        for j in range(len(key)):
            scores[j] = torch.sum(query[i] * key[j]) / np.sqrt(query.shape[1])
        attn = nn.Softmax(dim=0)(scores)
        context[i] = torch.matmul(attn, value)
    return context


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super(SingleHeadAttention, self).__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        Q, K, V = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        return ScaledDotProductAttention()(Q, K, V)
