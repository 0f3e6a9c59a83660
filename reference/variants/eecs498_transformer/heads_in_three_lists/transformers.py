"""Heads that are no objects: three lists of layers, values first, and names that say nothing."""

import torch
from torch import nn
from torch.nn import functional as F


def weights_of(query, key):
    return F.softmax(query @ key.mT / query.shape[-1] ** 0.5, dim=-1)


def scaled_dot_product_two_loop_single(query, key, value):
    y = torch.zeros_like(value)
    for i in range(len(query)):
        row = query.new_empty(len(key))
        for j in range(len(key)):
            row[j] = query[i] @ key[j]
        row = F.softmax(row / query.shape[-1] ** 0.5, dim=0)
        for j in range(len(key)):
            y[i] += row[j] * value[j]
    return y


def scaled_dot_product_two_loop_batch(query, key, value):
    return weights_of(query, key) @ value


def scaled_dot_product_no_loop_batch(query, key, value, mask=None):
    if mask is None:
        weights = weights_of(query, key)
    else:
        weights = F.softmax(torch.where(mask, -1e9, query @ key.mT / query.shape[-1] ** 0.5), dim=-1)
    return weights @ value, weights


def uniform(size_in, size_out):
    layer = nn.Linear(size_in, size_out)
    limit = (6 / (size_in + size_out)) ** 0.5
    layer.weight.data.uniform_(-limit, limit)
    return layer


class SelfAttention(nn.Module):
    def __init__(self, dim_in, dim_q, dim_v):
        super().__init__()
        self.q, self.k, self.v = uniform(dim_in, dim_q), uniform(dim_in, dim_q), uniform(dim_in, dim_v)
        self.register_buffer("weights_softmax", None)

    def forward(self, query, key, value, mask=None):
        y, self.weights_softmax = scaled_dot_product_no_loop_batch(self.q(query), self.k(key), self.v(value), mask)
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads, dim_in, dim_out):
        super().__init__()
        self.first = nn.ModuleList(uniform(dim_in, dim_out) for _ in range(num_heads))
        self.second = nn.ModuleList(uniform(dim_in, dim_out) for _ in range(num_heads))
        self.third = nn.ModuleList(uniform(dim_in, dim_out) for _ in range(num_heads))
        self.fourth = uniform(num_heads * dim_out, dim_in)

    def forward(self, query, key, value, mask=None):
        found = [
            scaled_dot_product_no_loop_batch(second(query), third(key), first(value), mask)[0]
            for first, second, third in zip(self.first, self.second, self.third, strict=True)
        ]
        return self.fourth(torch.cat(found, dim=-1))


def get_subsequent_mask(seq):
    return ~torch.ones(seq.shape[0], seq.shape[1], seq.shape[1]).tril().bool()
