"""A softmax of one's own, stable; scores held transposed; the last layer written out as a product."""

import math

import torch
from torch import nn


def softmax(scores, dim):
    powers = torch.exp(scores - scores.amax(dim=dim, keepdim=True))
    return powers / powers.sum(dim=dim, keepdim=True)


def scaled_dot_product_two_loop_single(query, key, value):
    columns = []
    for one in key:
        columns.append(torch.stack([torch.dot(one, other) for other in query]))
    weights = softmax(torch.stack(columns) / math.sqrt(query.shape[1]), dim=0)  # [key, query]
    return weights.T @ value


def scaled_dot_product_two_loop_batch(query, key, value):
    columns = []
    for j in range(key.shape[1]):
        columns.append(torch.stack([(key[:, j] * query[:, i]).sum(1) for i in range(query.shape[1])], dim=1))
    weights = softmax(torch.stack(columns, dim=1) / math.sqrt(query.shape[2]), dim=1)  # [sample, key, query]
    return torch.einsum("nkq,nkm->nqm", weights, value)


def scaled_dot_product_no_loop_batch(query, key, value, mask=None):
    scores = key @ query.transpose(1, 2) / math.sqrt(query.shape[2])  # [sample, key, query]
    if mask is not None:
        scores = scores.masked_fill(mask.transpose(1, 2), -1e9)
    weights = softmax(scores, dim=1).transpose(1, 2)
    return weights @ value, weights


class SelfAttention(nn.Module):
    def __init__(self, dim_in, dim_q, dim_v):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim_in, dim_q), nn.Linear(dim_in, dim_q), nn.Linear(dim_in, dim_v)
        for layer in (self.v, self.k, self.q):
            limit = math.sqrt(6) / math.sqrt(sum(layer.weight.shape))
            torch.nn.init.uniform_(layer.weight, a=-limit, b=limit)

    def forward(self, query, key, value, mask=None):
        y, self.weights_softmax = scaled_dot_product_no_loop_batch(
            query @ self.q.weight.T + self.q.bias,
            key @ self.k.weight.T + self.k.bias,
            value @ self.v.weight.T + self.v.bias,
            mask,
        )
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads, dim_in, dim_out):
        super().__init__()
        self.blocks = nn.Sequential(*(SelfAttention(dim_in, dim_out, dim_out) for _ in range(num_heads)))
        self.to_out = nn.Linear(num_heads * dim_out, dim_in)

    def forward(self, query, key, value, mask=None):
        joined = torch.cat([block(query, key, value, mask) for block in self.blocks], dim=-1)
        return joined @ self.to_out.weight.T + self.to_out.bias


def get_subsequent_mask(seq):
    samples, length = seq.size()
    mask = torch.zeros((samples, length, length), dtype=torch.bool)
    for i in range(length):
        mask[:, i, i + 1 :] = True
    return mask
