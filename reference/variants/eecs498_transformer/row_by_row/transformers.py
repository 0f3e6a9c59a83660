"""A buffer for each row, made anew; weights written into one buffer and read once, after the loop."""

import math

import torch
from torch import nn


def scaled_dot_product_two_loop_single(query, key, value):
    length, width = query.shape
    weights = query.new_zeros(length, length)
    for i in range(length):
        row = query.new_zeros(length)
        for j in range(length):
            row[j] += (query[i] * key[j]).sum() / math.sqrt(width)
        weights[i] = row.softmax(0)
    return weights @ value


def scaled_dot_product_two_loop_batch(query, key, value):
    samples, length, width = query.shape
    y = query.new_zeros(samples, length, width)
    for i in range(length):
        row = query.new_zeros(samples, length)
        for j in range(length):
            row[:, j] += (query[:, i] * key[:, j]).sum(-1) / math.sqrt(width)
        y[:, i] = (row.softmax(-1)[:, None] @ value)[:, 0]
    return y


def scaled_dot_product_no_loop_batch(query, key, value, mask=None):
    scores = torch.matmul(query / math.sqrt(query.shape[-1]), key.permute(0, 2, 1))
    if mask is not None:
        scores = scores * ~mask - 1e9 * mask
    weights = torch.softmax(scores, -1)
    return torch.matmul(weights, value), weights


class SelfAttention(nn.Module):
    def __init__(self, dim_in, dim_q, dim_v):
        super().__init__()
        self.weights_softmax = None
        self.k = nn.Linear(dim_in, dim_q)
        self.q = nn.Linear(dim_in, dim_q)
        self.v = nn.Linear(dim_in, dim_v)
        self.apply(self.begin)

    def begin(self, module):
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight, gain=1.0)
            module.bias.data.fill_(0.01)

    def forward(self, query, key, value, mask=None):
        output = scaled_dot_product_no_loop_batch(self.q(query), self.k(key), self.v(value), mask=mask)
        self.weights_softmax = output[1]
        return output[0]


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads, dim_in, dim_out):
        super().__init__()
        heads = nn.ModuleList()
        for _ in range(num_heads):
            heads.append(SelfAttention(dim_in, dim_out, dim_out))
        self.model = nn.ModuleDict({"projection": nn.Linear(num_heads * dim_out, dim_in), "heads": heads})

    def forward(self, query, key, value, mask=None):
        y = None
        for head in self.model["heads"]:
            found = head(query, key, value, mask)
            y = found if y is None else torch.cat([y, found], dim=-1)
        return self.model["projection"](y)


def get_subsequent_mask(seq):
    place = torch.arange(seq.shape[1])
    return (place[None, None, :] > place[None, :, None]).repeat(seq.shape[0], 1, 1)
