import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch import optim
from seaborn import heatmap


def scaled_dot_product_two_loop_single(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    K, M = query.shape
    y = query.new_zeros(K, M)
    for i in range(K):
        energy = [torch.inner(query[i], key[j]) / M**0.5 for j in range(K)]
        attn = F.softmax(torch.stack(energy), dim=0)
        for j in range(K):
            y[i] += attn[j] * value[j]
    return y


def scaled_dot_product_two_loop_batch(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    N, K, M = query.shape
    y = query.new_zeros(N, K, M)
    for i in range(K):
        energy = [torch.sum(query[:, i] * key[:, j], dim=-1) / M**0.5 for j in range(K)]
        attn = F.softmax(torch.stack(energy, dim=1), dim=1)
        for j in range(K):
            y[:, i] += attn[:, j : j + 1] * value[:, j]
    return y


def scaled_dot_product_no_loop_batch(query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None) -> Tensor:
    M = query.shape[-1]
    energy = query.matmul(key.transpose(-1, -2)) / M**0.5
    if mask is not None:
        energy = energy.masked_fill(mask, float("-inf"))
    weights_softmax = energy.softmax(dim=-1)
    y = weights_softmax.matmul(value)
    return y, weights_softmax


class SelfAttention(nn.Module):
    def __init__(self, dim_in: int, dim_q: int, dim_v: int):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(dim_in, d) for d in (dim_q, dim_q, dim_v))
        self.weights_softmax = None
        for layer in self.children():
            bound = (6.0 / sum(layer.weight.shape)) ** 0.5
            nn.init.uniform_(layer.weight, -bound, bound)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None) -> Tensor:
        y, self.weights_softmax = scaled_dot_product_no_loop_batch(self.q(query), self.k(key), self.v(value), mask)
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads: int, dim_in: int, dim_out: int):
        super().__init__()
        self.head_list = nn.ModuleList([SelfAttention(dim_in, dim_out, dim_out) for _ in range(num_heads)])
        self.w_o = nn.Linear(num_heads * dim_out, dim_in)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None) -> Tensor:
        return self.w_o(torch.cat([head(query, key, value, mask) for head in self.head_list], dim=-1))


def get_subsequent_mask(seq):
    N, K = seq.shape
    mask = torch.zeros(N, K, K, dtype=torch.bool)
    for i in range(K):
        mask[:, i, i + 1 :] = True
    return mask


def show_attention(weights):
    return heatmap(weights.detach())
