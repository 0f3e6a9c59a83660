from msilib.schema import Class
import torch
from torch import nn
import torch.nn.functional as F
import numpy as np


def scaled_dot_product_two_loop_single(query, key, value):
    y = None
    # Replace "pass" statement with your code
    K, M = query.shape
    weights = torch.zeros((K, K))
    for i in range(K):
        for j in range(K):
            weights[i, j] = torch.sum(query[i] * key[j]) / np.sqrt(M)
            print("i, j:", i, j, "score:", weights[i, j])
    weights = F.softmax(weights, dim=1)
    print(weights.shape, value.shape)
    y = weights.mm(value)
    return y


def scaled_dot_product_two_loop_batch(query, key, value):
    y = None
    # Replace "pass" statement with your code
    N, K, M = query.shape
    weights = torch.zeros((N, K, K))
    for i in range(K):
        for j in range(K):
            weights[:, i, j] = torch.sum(query[:, i, :] * key[:, j, :], dim=1) / np.sqrt(M)
            print(weights[:, i, j])
    weights = F.softmax(weights, dim=2)
    y = weights.bmm(value)
    return y


def scaled_dot_product_no_loop_batch(query, key, value, mask=None):
    _, _, M = query.shape
    y, weights_softmax = None, None
    # Replace "pass" statement with your code
    weights = query.bmm(key.permute(0, 2, 1)) / np.sqrt(M)
    if mask is not None:
        weights.masked_fill_(mask, -1e9)
    weights_softmax = F.softmax(weights, dim=2)
    y = weights_softmax.bmm(value)
    return y, weights_softmax


class SelfAttention(nn.Module):

    def __init__(self, dim_in, dim_q, dim_v):
        super(SelfAttention, self).__init__()
        self.q = nn.Linear(dim_in, dim_q)
        self.k = nn.Linear(dim_in, dim_q)
        self.v = nn.Linear(dim_in, dim_v)
        self.weights_softmax = None
        c1 = np.sqrt(6 / (dim_in + dim_q))
        c2 = np.sqrt(6 / (dim_in + dim_v))
        self.q.weight.data.uniform_(-c1, c1)
        self.k.weight.data.uniform_(-c1, c1)
        self.v.weight.data.uniform_(-c2, c2)
        self.q.bias.data.zero_()
        self.k.bias.data.zero_()
        self.v.bias.data.zero_()

    def forward(self, query, key, value, mask=None):
        q = self.q(query)
        k = self.k(key)
        v = self.v(value)
        y, self.weights_softmax = scaled_dot_product_no_loop_batch(q, k, v, mask)
        return y


class MultiHeadAttention(nn.Module):

    def __init__(self, num_heads, dim_in, dim_out):
        super(MultiHeadAttention, self).__init__()
        self.heads = nn.ModuleList()
        for h in range(num_heads):
            self.heads.append(SelfAttention(dim_in, dim_out, dim_out))
        self.proj = nn.Linear(dim_out * num_heads, dim_in)

    def forward(self, query, key, value, mask=None):
        y = None
        for head in self.heads:
            out = head(query, key, value, mask)
            # print(out.shape)
            if y is None:
                y = out
            else:
                y = torch.cat((y, out), dim=-1)
        return self.proj(y)


class LayerNormalization(nn.Module):
    def __init__(self, emb_dim, epsilon=1e-10):
        super().__init__()
        self.epsilon = epsilon
        # Replace "pass" statement with your code
        pass

    def forward(self, x):
        y = None
        # Replace "pass" statement with your code
        pass
        return y


def get_subsequent_mask(seq):
    N, K = seq.shape
    mask = torch.from_numpy(np.triu(np.ones((N, K, K)), k=1)).bool()
    return mask
