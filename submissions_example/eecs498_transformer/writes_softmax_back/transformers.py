import math
import torch
import torch.nn as nn
from torch import Tensor


def scaled_dot_product_two_loop_single(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    y = torch.zeros_like(value)
    K, M = query.shape
    E = torch.zeros((K, K), dtype=query.dtype, device=query.device)
    for i in range(K):
        for j in range(K):
            E[i, j] = query[i, :].dot(key[j, :]) / math.sqrt(M)
        # the row is complete: turn the scores into weights
        E[i] = torch.softmax(E[i].clone(), dim=0)
        y[i] = E[i] @ value
    return y


def scaled_dot_product_two_loop_batch(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    y = torch.zeros_like(value)
    N, K, M = query.shape
    E = torch.zeros((N, K, K), dtype=query.dtype, device=query.device)
    for i in range(K):
        for j in range(K):
            E[:, i, j] = (query[:, i, :] * key[:, j, :]).sum(dim=1) / math.sqrt(M)
        E[:, i] = torch.softmax(E[:, i].clone(), dim=1)
        y[:, i] = torch.bmm(E[:, i].unsqueeze(1), value).squeeze(1)
    return y


def scaled_dot_product_no_loop_batch(query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None) -> Tensor:
    M = query.shape[-1]
    E = query @ key.transpose(1, 2) / math.sqrt(M)
    if mask is not None:
        E[mask] = -1e9
    weights_softmax = torch.softmax(E, dim=-1)
    return weights_softmax @ value, weights_softmax


def _linear(d_in, d_out):
    layer = nn.Linear(d_in, d_out)
    c = (6 / (d_in + d_out)) ** 0.5
    nn.init.uniform_(layer.weight, a=-c, b=c)
    return layer


class SelfAttention(nn.Module):
    def __init__(self, dim_in: int, dim_q: int, dim_v: int):
        super().__init__()
        self.q = _linear(dim_in, dim_q)
        self.k = _linear(dim_in, dim_q)
        self.v = _linear(dim_in, dim_v)
        self.weights_softmax = None

    def forward(self, query, key, value, mask=None):
        y, self.weights_softmax = scaled_dot_product_no_loop_batch(
            self.q(query), self.k(key), self.v(value), mask)
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads: int, dim_in: int, dim_out: int):
        super().__init__()
        self.num_heads = num_heads
        self.out = _linear(num_heads * dim_out, dim_in)
        self.multi_attention = nn.ModuleList(SelfAttention(dim_in, dim_out, dim_out) for i in range(num_heads))

    def forward(self, query, key, value, mask=None):
        outputs = []
        for i in range(self.num_heads):
            outputs.append(self.multi_attention[i](query, key, value, mask))
        return self.out(torch.cat(outputs, dim=-1))


def get_subsequent_mask(seq):
    N, K = seq.shape
    idx = torch.arange(K, device=seq.device)
    return (idx[None, :] > idx[:, None]).unsqueeze(0).repeat(N, 1, 1)


class FeedForwardBlock(nn.Module):
    def __init__(self, inp_dim, hidden_dim_feedforward):
        super().__init__()
        self.first = _linear(inp_dim, hidden_dim_feedforward)
        self.second = _linear(hidden_dim_feedforward, inp_dim)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))
