import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def scaled_dot_product_two_loop_single(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    seq_len, width = query.size()
    att = torch.zeros(seq_len, seq_len).to(query)
    for i in range(seq_len):
        for j in range(seq_len):
            att[i, j] = query[i].dot(key[j])
    att = F.softmax(att / math.sqrt(width), dim=-1)
    return att.matmul(value)


def scaled_dot_product_two_loop_batch(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    bs, seq_len, width = query.size()
    att = torch.zeros(bs, seq_len, seq_len).to(query)
    for i in range(seq_len):
        for j in range(seq_len):
            att[:, i, j] = query[:, i].mul(key[:, j]).sum(-1)
    att = F.softmax(att / math.sqrt(width), dim=-1)
    return att.matmul(value)


def scaled_dot_product_no_loop_batch(query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None):
    att = query.matmul(key.transpose(1, 2)) / math.sqrt(query.size(-1))
    if mask is not None:
        att = att + mask * -1e9
    weights_softmax = F.softmax(att, dim=-1)
    return weights_softmax.matmul(value), weights_softmax


class SelfAttention(nn.Module):
    def __init__(self, dim_in: int, dim_q: int, dim_v: int):
        super().__init__()
        self.weights_softmax = None
        # values first, and the biases before the weights
        self.v = nn.Linear(dim_in, dim_v)
        self.k = nn.Linear(dim_in, dim_q)
        self.q = nn.Linear(dim_in, dim_q)
        for layer in (self.v, self.k, self.q):
            nn.init.zeros_(layer.bias)
            nn.init.normal_(layer.weight, std=math.sqrt(2 / (dim_in + layer.out_features)))

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None) -> Tensor:
        y, self.weights_softmax = scaled_dot_product_no_loop_batch(self.q(query), self.k(key), self.v(value), mask)
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads: int, dim_in: int, dim_out: int):
        super().__init__()
        self.WO = nn.Linear(num_heads * dim_out, dim_in)
        self.attentions = nn.ModuleList([SelfAttention(dim_in, dim_out, dim_out) for _ in range(num_heads)])

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None) -> Tensor:
        y = torch.cat([a(query, key, value, mask) for a in self.attentions], dim=-1)
        return self.WO(y)


def get_subsequent_mask(seq: Tensor) -> Tensor:
    bs, seq_len = seq.size()
    return torch.triu(seq.new_ones(bs, seq_len, seq_len), diagonal=1).bool()
