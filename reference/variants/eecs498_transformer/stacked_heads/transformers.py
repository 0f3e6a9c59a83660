"""All heads at once, from the layers of the list, stacked: no loop over heads but to collect their weights."""

import math

import torch
from torch import nn


def attend(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask, -1e9)
    weights = scores.softmax(dim=-1)
    return torch.matmul(weights, value), weights


def scaled_dot_product_two_loop_single(query, key, value):
    return attend(query, key, value)[0]


def scaled_dot_product_two_loop_batch(query, key, value):
    return attend(query, key, value)[0]


def scaled_dot_product_no_loop_batch(query, key, value, mask=None):
    return attend(query, key, value, mask)


class SelfAttention(nn.Module):
    def __init__(self, dim_in, dim_q, dim_v):
        super().__init__()
        self.q = nn.Linear(dim_in, dim_q)
        self.k = nn.Linear(dim_in, dim_q)
        self.v = nn.Linear(dim_in, dim_v)
        for layer in self.children():
            nn.init.xavier_uniform_(layer.weight)

    def forward(self, query, key, value, mask=None):
        y, self.weights_softmax = attend(self.q(query), self.k(key), self.v(value), mask)
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads, dim_in, dim_out):
        super().__init__()
        self.single_heads = nn.ModuleList([SelfAttention(dim_in, dim_out, dim_out) for _ in range(num_heads)])
        self.output_layer = nn.Linear(num_heads * dim_out, dim_in)

    def project(self, name, sequence):
        layers = [getattr(head, name) for head in self.single_heads]
        return torch.stack([layer(sequence) for layer in layers], dim=1)  # [sample, head, position, width]

    def forward(self, query, key, value, mask=None):
        mask = None if mask is None else mask.unsqueeze(1)
        y, _ = attend(self.project("q", query), self.project("k", key), self.project("v", value), mask)
        return self.output_layer(y.transpose(1, 2).flatten(2))


def get_subsequent_mask(seq):
    length = seq.shape[-1]
    return torch.full((length, length), True).triu(diagonal=1).unsqueeze(0).expand(seq.shape[0], -1, -1)
