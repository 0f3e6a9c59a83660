import torch
import torch.nn as nn
import torch.nn.functional as F


def scaled_dot_product_attention(query, key, value, allowed=None):
    d = query.shape[-1]
    scores = torch.matmul(query, key.transpose(-2, -1)) / d ** 0.5
    if allowed is not None:
        scores = scores.masked_fill(~allowed, float("-inf"))
    weights = F.softmax(scores, dim=-1)
    return torch.matmul(weights, value), weights


def causal_mask(T):
    return torch.tril(torch.ones(T, T)).bool()


def key_padding_mask(lengths, S):
    return torch.arange(S)[None, None, :] < lengths[:, None, None]


def to_multihead_mask(allowed):
    return ~allowed


def to_sdpa_mask(allowed):
    return allowed


class Attention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, allowed=None):
        _, weights = scaled_dot_product_attention(query, key, value, allowed)
        weights = self.dropout(weights)
        return weights @ value, weights
