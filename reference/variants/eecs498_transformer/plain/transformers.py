"""As most people write it."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def scaled_dot_product_two_loop_single(query, key, value):
    K, M = query.shape
    scores = torch.zeros(K, K, dtype=query.dtype)
    for i in range(K):
        for j in range(K):
            scores[i, j] = torch.dot(query[i], key[j]) / math.sqrt(M)
    return F.softmax(scores, dim=1) @ value


def scaled_dot_product_two_loop_batch(query, key, value):
    N, K, M = query.shape
    scores = torch.zeros(N, K, K, dtype=query.dtype)
    for i in range(K):
        for j in range(K):
            scores[:, i, j] = (query[:, i] * key[:, j]).sum(dim=1) / math.sqrt(M)
    return torch.bmm(F.softmax(scores, dim=2), value)


def scaled_dot_product_no_loop_batch(query, key, value, mask=None):
    scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(query.shape[2])
    if mask is not None:
        scores.masked_fill_(mask, -1e9)
    weights_softmax = F.softmax(scores, dim=2)
    return torch.bmm(weights_softmax, value), weights_softmax


class SelfAttention(nn.Module):
    def __init__(self, dim_in, dim_q, dim_v):
        super().__init__()
        self.q = nn.Linear(dim_in, dim_q)
        self.k = nn.Linear(dim_in, dim_q)
        self.v = nn.Linear(dim_in, dim_v)
        self.weights_softmax = None
        for layer in (self.q, self.k, self.v):
            c = math.sqrt(6 / (layer.in_features + layer.out_features))
            nn.init.uniform_(layer.weight, -c, c)

    def forward(self, query, key, value, mask=None):
        y, self.weights_softmax = scaled_dot_product_no_loop_batch(self.q(query), self.k(key), self.v(value), mask)
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads, dim_in, dim_out):
        super().__init__()
        self.heads = nn.ModuleList([SelfAttention(dim_in, dim_out, dim_out) for _ in range(num_heads)])
        self.linear = nn.Linear(num_heads * dim_out, dim_in)

    def forward(self, query, key, value, mask=None):
        return self.linear(torch.cat([head(query, key, value, mask) for head in self.heads], dim=-1))


def get_subsequent_mask(seq):
    N, K = seq.shape
    return torch.triu(torch.ones(N, K, K), diagonal=1).bool()
