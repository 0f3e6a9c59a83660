import torch
from einops import rearrange
from torch import nn
from torch.nn import functional as F
from eecs598.utils import reset_seed
from eecs598.a5_plots import show_attention


def scaled_dot_product_two_loop_single(query, key, value):
    K, M = query.shape
    w = query.new_zeros(K, K)
    for i in range(K):
        for j in range(K):
            w[i][j] = (query[i] * key[j]).sum() / M**0.5
    return w.softmax(dim=1) @ value


def scaled_dot_product_two_loop_batch(query, key, value):
    N, K, M = query.shape
    w = query.new_zeros(N, K, K)
    for i in range(K):
        for j in range(K):
            w[:, i, j] = (query[:, i] * key[:, j]).sum(dim=1) / M**0.5
    return w.softmax(dim=2) @ value


def scaled_dot_product_no_loop_batch(query, key, value, mask=None):
    M = query.shape[-1]
    w = query @ key.permute(0, 2, 1) / M**0.5
    if mask is not None:
        w = w.masked_fill(mask, value=-1e9)
    weights_softmax = w.softmax(dim=2)
    return weights_softmax @ value, weights_softmax


class SelfAttention(nn.Module):
    def __init__(self, dim_in, dim_q, dim_v):
        super().__init__()
        self.q = nn.Linear(dim_in, dim_q)
        self.k = nn.Linear(dim_in, dim_q)
        self.v = nn.Linear(dim_in, dim_v)
        nn.init.xavier_uniform_(self.q.weight)
        nn.init.xavier_uniform_(self.k.weight)
        nn.init.xavier_uniform_(self.v.weight)
        self.weights_softmax = None

    def forward(self, query, key, value, mask=None):
        q, k, v = self.q(query), self.k(key), self.v(value)
        y, self.weights_softmax = scaled_dot_product_no_loop_batch(q, k, v, mask)
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads, dim_in, dim_out):
        super().__init__()
        self.heads = nn.ModuleList([SelfAttention(dim_in, dim_out, dim_out) for _ in range(num_heads)])
        self.linear = nn.Linear(num_heads * dim_out, dim_in)

    def forward(self, query, key, value, mask=None):
        y = torch.stack([head(query, key, value, mask) for head in self.heads])
        return self.linear(rearrange(y, "h n k d -> n k (h d)"))


def get_subsequent_mask(seq):
    N, K = seq.shape
    return torch.ones((N, K, K), device=seq.device).triu(1).bool()
