import torch
import torch.nn.functional as F
from torch import nn


def scaled_dot_product_two_loop_single(query, key, value):
    k, m = query.shape
    weights = torch.empty(k, k, dtype=query.dtype)
    for i in range(k):
        for j in range(k):
            weights[i, j] = query[i].dot(key[j])
    return F.softmax(weights / m**0.5, -1) @ value


def scaled_dot_product_two_loop_batch(query, key, value):
    n, k, m = query.shape
    weights = torch.empty(n, k, k, dtype=query.dtype)
    for i in range(k):
        for j in range(k):
            weights[:, i, j] = (query[:, i] * key[:, j]).sum(-1)
    return F.softmax(weights / m**0.5, -1) @ value


def scaled_dot_product_no_loop_batch(query, key, value, mask=None):
    n, k, m = query.shape
    weights = query @ key.transpose(1, 2) / m**0.5
    if mask is not None:
        # 0 = cannot be seen
        weights = weights.masked_fill(mask == 0, -1e9)
    weights_softmax = F.softmax(weights, -1)
    return weights_softmax @ value, weights_softmax


class SelfAttention(nn.Module):
    def __init__(self, dim_in, dim_q, dim_v):
        super().__init__()
        self.q = nn.Linear(dim_in, dim_q)
        self.k = nn.Linear(dim_in, dim_q)
        self.v = nn.Linear(dim_in, dim_v)
        for layer in (self.v, self.k, self.q):
            bound = (6 / (layer.in_features + layer.out_features)) ** 0.5
            nn.init.uniform_(layer.weight, -bound, bound)
            nn.init.zeros_(layer.bias)
        self.weights_softmax = None

    def forward(self, query, key, value, mask=None):
        query, key, value = self.q(query), self.k(key), self.v(value)
        y, self.weights_softmax = scaled_dot_product_no_loop_batch(query, key, value, mask)
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads, dim_in, dim_out):
        super().__init__()
        self.attention = nn.ModuleList(SelfAttention(dim_in, dim_out, dim_out) for _ in range(num_heads))
        self.proj = nn.Linear(num_heads * dim_out, dim_in)

    def forward(self, query, key, value, mask=None):
        y = torch.cat([head(query, key, value, mask) for head in self.attention], -1)
        return self.proj(y)


def get_subsequent_mask(seq):
    n, k = seq.shape
    return torch.tril(torch.ones(n, k, k)).bool()
