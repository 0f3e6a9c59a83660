import math
import torch
from torch import nn
from torch import Tensor
from torch.nn import functional as F
from torch.utils.data import Dataset
from a5_helper import *


def scaled_dot_product_two_loop_single(query, key, value):
    K, M = query.shape
    y = torch.zeros(K, M, dtype=query.dtype, device=query.device)
    for k in range(K):
        alpha = torch.zeros(K, dtype=query.dtype, device=query.device)
        for j in range(K):
            alpha[j] = torch.matmul(query[k], key[j]) / math.sqrt(M)
        alpha = F.softmax(alpha, dim=0)
        y[k] = torch.matmul(alpha, value)
    return y


def scaled_dot_product_two_loop_batch(query, key, value):
    N, K, M = query.shape
    y = torch.zeros(N, K, M, dtype=query.dtype, device=query.device)
    for k in range(K):
        alpha = torch.zeros(N, K, dtype=query.dtype, device=query.device)
        for j in range(K):
            alpha[:, j] = (query[:, k] * key[:, j]).sum(dim=1) / math.sqrt(M)
        alpha = F.softmax(alpha, dim=1)
        y[:, k] = torch.bmm(alpha[:, None], value)[:, 0]
    return y


def scaled_dot_product_no_loop_batch(query, key, value, mask=None):
    _, _, M = query.shape
    alpha = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(M)
    if mask is not None:
        alpha = torch.masked_fill(alpha, mask, -1e9)
    weights_softmax = F.softmax(alpha, dim=2)
    y = torch.bmm(weights_softmax, value)
    return y, weights_softmax


class SelfAttention(nn.Module):
    def __init__(self, dim_in, dim_q, dim_v):
        super().__init__()
        self.q = nn.Linear(dim_in, dim_q)
        c = math.sqrt(6 / (dim_in + dim_q))
        nn.init.uniform_(self.q.weight, -c, c)
        self.k = nn.Linear(dim_in, dim_q)
        nn.init.uniform_(self.k.weight, -c, c)
        self.v = nn.Linear(dim_in, dim_v)
        c = math.sqrt(6 / (dim_in + dim_v))
        nn.init.uniform_(self.v.weight, -c, c)

    def forward(self, query, key, value, mask=None):
        y, self.weights_softmax = scaled_dot_product_no_loop_batch(self.q(query), self.k(key), self.v(value), mask)
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads, dim_in, dim_out):
        super().__init__()
        self.mha = nn.ModuleList([SelfAttention(dim_in, dim_out, dim_out) for i in range(num_heads)])
        self.ffn = nn.Linear(num_heads * dim_out, dim_in)

    def forward(self, query, key, value, mask=None):
        y = [attention(query, key, value) for attention in self.mha]
        return self.ffn(torch.cat(y, dim=2))


class LayerNormalization(nn.Module):
    def __init__(self, emb_dim, epsilon=1e-10):
        super().__init__()
        self.epsilon = epsilon
        self.gamma = nn.Parameter(torch.ones(emb_dim))
        self.beta = nn.Parameter(torch.zeros(emb_dim))

    def forward(self, x):
        return self.gamma * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + self.epsilon) + self.beta


class DecoderBlock(nn.Module):
    def __init__(self, num_heads, emb_dim, feedforward_dim, dropout):
        super().__init__()
        self.attention_self = MultiHeadAttention(num_heads, emb_dim, emb_dim // num_heads)
        self.norm1 = LayerNormalization(emb_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, dec_inp, enc_inp, mask=None):
        return self.dropout(self.norm1(self.attention_self(dec_inp, dec_inp, dec_inp, mask) + dec_inp))


def get_subsequent_mask(seq):
    N, K = seq.shape
    mask = torch.triu(torch.ones((N, K, K), dtype=torch.bool), diagonal=1).to(seq.device)
    return mask
