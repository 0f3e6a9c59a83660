"""Einsums; the loops are functions that call the one without loops; the last layer is made before the heads."""

import torch
from torch import nn


def scaled_dot_product_no_loop_batch(query, key, value, mask=None):
    scores = torch.einsum("nim,njm->nij", query, key) * query.size(-1) ** -0.5
    if mask is not None:
        scores = scores.masked_fill(mask, -1e9)
    weights = scores.softmax(-1)
    return torch.einsum("nij,njm->nim", weights, value), weights


def scaled_dot_product_two_loop_batch(query, key, value):
    return scaled_dot_product_no_loop_batch(query, key, value)[0]


def scaled_dot_product_two_loop_single(query, key, value):
    return scaled_dot_product_two_loop_batch(query[None], key[None], value[None])[0]


class SelfAttention(nn.Module):
    def __init__(self, dim_in, dim_q, dim_v):
        super().__init__()
        self.v = self.layer(dim_in, dim_v)
        self.q = self.layer(dim_in, dim_q)
        self.k = self.layer(dim_in, dim_q)

    @staticmethod
    def layer(before, after):
        layer = nn.Linear(before, after)
        nn.init.xavier_uniform_(layer.weight)
        nn.init.zeros_(layer.bias)
        return layer

    def forward(self, query, key, value, mask=None):
        y, weights = scaled_dot_product_no_loop_batch(self.q(query), self.k(key), self.v(value), mask)
        self.weights_softmax = weights.detach()
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads, dim_in, dim_out):
        super().__init__()
        self.a_mixer = nn.Linear(num_heads * dim_out, dim_in)
        self.a = nn.ModuleList(SelfAttention(dim_in, dim_out, dim_out) for _ in range(num_heads))

    def forward(self, *inputs, mask=None):
        if len(inputs) == 4:
            *inputs, mask = inputs
        return self.a_mixer(torch.cat([one(*inputs, mask) for one in self.a], -1))


def get_subsequent_mask(seq):
    return torch.ones(*seq.shape, seq.shape[1], dtype=torch.bool).triu(1)
