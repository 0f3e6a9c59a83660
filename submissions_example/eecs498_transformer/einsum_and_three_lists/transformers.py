"""Own solution, everything with einsum. Heads are not objects of their own: three lists of layers instead."""

from __future__ import annotations

import torch
from torch import Tensor, einsum, nn


def scaled_dot_product_two_loop_single(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    k, m = query.shape
    e = torch.stack([torch.stack([einsum("m,m->", query[i], key[j]) for j in range(k)]) for i in range(k)])
    return einsum("ij,jm->im", (e * m**-0.5).softmax(-1), value)


def scaled_dot_product_two_loop_batch(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    k, m = query.shape[1:]
    e = torch.stack(
        [torch.stack([einsum("nm,nm->n", query[:, i], key[:, j]) for j in range(k)], dim=-1) for i in range(k)], dim=1
    )
    return einsum("nij,njm->nim", (e * m**-0.5).softmax(-1), value)


def scaled_dot_product_no_loop_batch(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None):
    e = einsum("nim,njm->nij", query * query.shape[-1] ** -0.5, key)
    if mask is not None:
        e = e.masked_fill(mask, -1e9)
    a = e.softmax(-1)
    return einsum("nij,njm->nim", a, value), a


def glorot(d_in: int, d_out: int) -> nn.Linear:
    layer = nn.Linear(d_in, d_out)
    nn.init.xavier_uniform_(layer.weight)
    return layer


class SelfAttention(nn.Module):
    def __init__(self, dim_in: int, dim_q: int, dim_v: int) -> None:
        super().__init__()
        self.v = glorot(dim_in, dim_v)
        self.k = glorot(dim_in, dim_q)
        self.q = glorot(dim_in, dim_q)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        y, self.weights_softmax = scaled_dot_product_no_loop_batch(self.q(query), self.k(key), self.v(value), mask)
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads: int, dim_in: int, dim_out: int) -> None:
        super().__init__()
        self.back = glorot(num_heads * dim_out, dim_in)
        self.to_v = nn.ModuleList(glorot(dim_in, dim_out) for _ in range(num_heads))
        self.to_k = nn.ModuleList(glorot(dim_in, dim_out) for _ in range(num_heads))
        self.to_q = nn.ModuleList(glorot(dim_in, dim_out) for _ in range(num_heads))

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        found = []
        for q, k, v in zip(self.to_q, self.to_k, self.to_v):
            y, _ = scaled_dot_product_no_loop_batch(q(query), k(key), v(value), mask)
            found.append(y)
        return self.back(torch.cat(found, -1))


def get_subsequent_mask(seq: Tensor) -> Tensor:
    n, k = seq.shape
    return torch.ones(k, k, dtype=torch.bool).triu(1).expand(n, k, k)
