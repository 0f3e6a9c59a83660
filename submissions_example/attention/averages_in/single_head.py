"""Homework 3, part 1: single-head attention."""

import math

import torch
from torch import nn


def scaled_dot_product_attention(query, key, value):
    d = query.shape[-1]
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d)
    # every row is one query, so normalise over the last dimension (the keys)
    weights = torch.softmax(scores, dim=-1)
    output = torch.matmul(weights, value)
    return output, weights


def attention_with_loops(query, key, value):
    n_queries, d = query.shape
    n_keys = key.shape[0]
    output = query.new_zeros((n_queries, value.shape[1]))
    for i in range(n_queries):
        # new tensor in every iteration, otherwise backward() complains
        scores = query.new_zeros(n_keys)
        for j in range(n_keys):
            scores[j] = torch.dot(query[i], key[j]) / math.sqrt(d)
        weights = torch.softmax(scores, dim=0)
        for j in range(n_keys):
            output[i] += weights[j] * value[j]
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
