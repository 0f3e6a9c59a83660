import math
import torch
import torch.nn as nn
from torch.nn import functional as F


def scaled_dot_product_two_loop_single(query, key, value):
    K, M = query.shape
    scores = torch.zeros(K, K, dtype=query.dtype)
    for i in range(K):
        for j in range(K):
            scores[i, j] = torch.dot(query[i], key[j]) / math.sqrt(K)
    weights = F.softmax(scores, dim=-1)
    y = weights @ value
    return y


def scaled_dot_product_two_loop_batch(query, key, value):
    N, K, M = query.shape
    scores = torch.zeros(N, K, K, dtype=query.dtype)
    for i in range(K):
        for j in range(K):
            scores[:, i, j] = torch.sum(query[:, i] * key[:, j], dim=-1) / math.sqrt(K)
    weights = F.softmax(scores, dim=-1)
    y = weights @ value
    return y


def scaled_dot_product_no_loop_batch(query, key, value, mask=None):
    N, K, M = query.shape
    scores = query @ key.transpose(-2, -1) / math.sqrt(K)
    if mask is not None:
        scores = scores.masked_fill(mask, -1e9)
    weights_softmax = F.softmax(scores, dim=-1)
    y = weights_softmax @ value
    return y, weights_softmax


class SelfAttention(nn.Module):
    def __init__(self, dim_in, dim_q, dim_v):
        super().__init__()
        self.q = nn.Linear(dim_in, dim_q)
        self.k = nn.Linear(dim_in, dim_q)
        self.v = nn.Linear(dim_in, dim_v)
        self.weights_softmax = None
        nn.init.uniform_(self.q.weight, -math.sqrt(6 / (dim_in + dim_q)), math.sqrt(6 / (dim_in + dim_q)))
        nn.init.uniform_(self.k.weight, -math.sqrt(6 / (dim_in + dim_q)), math.sqrt(6 / (dim_in + dim_q)))
        nn.init.uniform_(self.v.weight, -math.sqrt(6 / (dim_in + dim_v)), math.sqrt(6 / (dim_in + dim_v)))

    def forward(self, query, key, value, mask=None):
        y, self.weights_softmax = scaled_dot_product_no_loop_batch(
            self.q(query), self.k(key), self.v(value), mask
        )
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads, dim_in, dim_out):
        super().__init__()
        self.attentions = nn.ModuleList([SelfAttention(dim_in, dim_out, dim_out) for _ in range(num_heads)])
        self.fc_out = nn.Linear(num_heads * dim_out, dim_in)

    def forward(self, query, key, value, mask=None):
        y = torch.cat([a(query, key, value, mask) for a in self.attentions], dim=-1)
        return self.fc_out(y)


def get_subsequent_mask(seq):
    N, K = seq.shape
    return torch.triu(torch.ones(N, K, K), diagonal=1).type(torch.bool)
