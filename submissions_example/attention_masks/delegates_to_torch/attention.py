import torch
import torch.nn as nn
import torch.nn.functional as F


def scaled_dot_product_attention(query, key, value, allowed=None):
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
    eye = torch.eye(key.shape[1], dtype=key.dtype).expand(key.shape[0], -1, -1)
    weights = F.scaled_dot_product_attention(query, key, eye, attn_mask=allowed)
    return out, weights


def causal_mask(T):
    return torch.tril(torch.ones(T, T, dtype=torch.bool))


def key_padding_mask(lengths, S):
    return (torch.arange(S)[None, :] < lengths[:, None])[:, None, :]


def to_multihead_mask(allowed):
    if allowed.dtype != torch.bool:
        raise TypeError()
    return ~allowed


def to_sdpa_mask(allowed):
    if allowed.dtype != torch.bool:
        raise TypeError()
    return allowed


class Attention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = dropout

    def forward(self, query, key, value, allowed=None):
        return scaled_dot_product_attention(query, key, value, allowed)
