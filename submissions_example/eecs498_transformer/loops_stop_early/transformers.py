import torch
from torch import Tensor, nn
import math


def scaled_dot_product_two_loop_single(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    y = None
    n, d = query.shape
    e = query.new_zeros(n, n)
    for i in range(n):
        for j in range(n - 1):
            e[i, j] = torch.dot(query[i], key[j]) / math.sqrt(d)
    a = torch.softmax(e, dim=1)
    y = torch.mm(a, value)
    return y


def scaled_dot_product_two_loop_batch(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    y = None
    b, n, d = query.shape
    e = query.new_zeros(b, n, n)
    for i in range(n):
        for j in range(n):
            e[:, i, j] = torch.sum(query[:, i] * key[:, j], dim=1) / math.sqrt(d)
    a = torch.softmax(e, dim=1)
    y = torch.bmm(a, value)
    return y


def scaled_dot_product_no_loop_batch(query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None) -> Tensor:
    b, n, d = query.shape
    y, weights_softmax = None, None
    e = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(d)
    if mask is not None:
        e = e.masked_fill(mask, -1e9)
    weights_softmax = torch.softmax(e, dim=2)
    y = torch.bmm(weights_softmax, value)
    return y, weights_softmax


class SelfAttention(nn.Module):
    def __init__(self, dim_in: int, dim_q: int, dim_v: int):
        super().__init__()
        self.q = nn.Linear(dim_in, dim_q)
        self.k = nn.Linear(dim_in, dim_q)
        self.v = nn.Linear(dim_in, dim_v)
        c = math.sqrt(6 / (dim_in + dim_q))
        d = math.sqrt(6 / (dim_in + dim_v))
        with torch.no_grad():
            self.q.weight.uniform_(-c, c)
            self.k.weight.uniform_(-c, c)
            self.v.weight.uniform_(-d, d)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None) -> Tensor:
        y, weights = scaled_dot_product_no_loop_batch(self.q(query), self.k(key), self.v(value), mask)
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads: int, dim_in: int, dim_out: int):
        super().__init__()
        self.list = nn.ModuleList([SelfAttention(dim_in, dim_out, dim_out) for h in range(num_heads)])
        self.out = nn.Linear(num_heads * dim_out, dim_in)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None) -> Tensor:
        return self.out(torch.cat([h(query, key, value, mask) for h in self.list], 2))


def get_subsequent_mask(seq):
    n, k = seq.size()
    mask = torch.triu(torch.ones(k, k), 1).bool().repeat(n, 1, 1)
    return mask
