"""Attention for a transformer. Lea, hand-in of week 9, the batch version is still missing."""

import math

import torch
from torch import nn


def softmax(x):
    # we were asked to know what happens inside
    e = torch.exp(x - x.max(dim=-1, keepdim=True).values)
    return e / e.sum(dim=-1, keepdim=True)


def scaled_dot_product_two_loop_single(query, key, value):
    length, width = query.shape
    out = []
    for i in range(length):
        scores = []
        for j in range(length):
            scores.append((query[i] * key[j]).sum() / math.sqrt(width))
        weights = softmax(torch.stack(scores))
        out.append((weights[:, None] * value).sum(dim=0))
    return torch.stack(out)


def scaled_dot_product_two_loop_batch(query, key, value):
    raise NotImplementedError  # TODO after the exam


def scaled_dot_product_no_loop_batch(query, key, value, mask=None):
    scores = torch.einsum("nim,njm->nij", query, key) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask, -1e9)
    weights = softmax(scores)
    return torch.einsum("nij,njm->nim", weights, value), weights


class SelfAttention(nn.Module):
    def __init__(self, dim_in, dim_q, dim_v):
        super().__init__()
        for name, size in (("q", dim_q), ("k", dim_q), ("v", dim_v)):
            layer = nn.Linear(dim_in, size)
            limit = math.sqrt(6 / (dim_in + size))
            nn.init.uniform_(layer.weight, -limit, limit)
            setattr(self, name, layer)

    def forward(self, query, key, value, mask=None):
        output, self.weights_softmax = scaled_dot_product_no_loop_batch(
            self.q(query), self.k(key), self.v(value), mask
        )
        return output


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads, dim_in, dim_out):
        super().__init__()
        self.mix = nn.Linear(num_heads * dim_out, dim_in)
        self.heads = nn.ModuleList(SelfAttention(dim_in, dim_out, dim_out) for _ in range(num_heads))

    def forward(self, query, key, value, mask=None):
        return self.mix(torch.cat([head(query, key, value, mask) for head in self.heads], dim=-1))


def get_subsequent_mask(seq):
    n, k = seq.shape
    return torch.ones(n, k, k, dtype=torch.bool).triu(diagonal=1)
