# Assignment 5, transformers
import torch
import torch.nn as nn
from torch import Tensor


def scaled_dot_product_two_loop_single(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    y = None
    K, M = query.shape
    QK = query.new_zeros((K, K))
    for i in range(K):
        for j in range(K):
            QK[i][j] = torch.sum(query[i] * key[j])
    QK = torch.softmax(QK / M**0.5, dim=-1)
    y = torch.matmul(QK, value)
    return y


def scaled_dot_product_two_loop_batch(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    y = None
    N, K, M = query.shape
    QK = query.new_zeros((N, K, K))
    for i in range(K):
        for j in range(K):
            QK[:, i, j] = torch.einsum("nm,nm->n", query[:, i], key[:, j])
    QK = torch.softmax(QK / M**0.5, dim=-1)
    y = torch.matmul(QK, value)
    return y


def scaled_dot_product_no_loop_batch(query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None) -> Tensor:
    _, _, M = query.shape
    y, weights_softmax = None, None
    QK = torch.matmul(query, key.transpose(-1, -2)) / M**0.5
    if mask is not None:
        QK = QK.masked_fill(mask == True, -1e9)
    weights_softmax = torch.softmax(QK, dim=-1)
    y = torch.matmul(weights_softmax, value)
    return y, weights_softmax


class SelfAttention(nn.Module):
    def __init__(self, dim_in: int, dim_q: int, dim_v: int):
        super().__init__()
        self.q = nn.Linear(dim_in, dim_q)
        self.k = nn.Linear(dim_in, dim_q)
        self.v = nn.Linear(dim_in, dim_v)
        self.init_weights()
        self.weights_softmax = None

    def init_weights(self):
        for m in self.modules():
            if isinstance(m, nn.Linear):
                r = (6 / (m.in_features + m.out_features)) ** 0.5
                m.weight.data = torch.rand_like(m.weight) * 2 * r - r
                m.bias.data.fill_(0)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None) -> Tensor:
        y, weights = scaled_dot_product_no_loop_batch(self.q(query), self.k(key), self.v(value), mask)
        self.weights_softmax = weights
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads: int, dim_in: int, dim_out: int):
        super().__init__()
        self.attn_list = nn.ModuleList([])
        for _ in range(num_heads):
            self.attn_list.append(SelfAttention(dim_in, dim_out, dim_out))
        self.linear = nn.Linear(num_heads * dim_out, dim_in)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None) -> Tensor:
        outs = [attn(query, key, value, mask) for attn in self.attn_list]
        y = self.linear(torch.concat(outs, axis=-1))
        return y


def get_subsequent_mask(seq):
    mask = None
    N, K = seq.shape
    # the same for all N sequences
    mask = torch.triu(torch.ones((K, K), device="cpu"), diagonal=1).bool()
    return mask
