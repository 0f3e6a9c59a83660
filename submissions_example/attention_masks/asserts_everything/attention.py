import math

import torch
from torch import nn


def attention_weights(query, key, value, allowed=None):
    assert query.ndim == 3 and key.ndim == 3 and value.ndim == 3, "inputs must be 3D"
    B, L, D = query.shape
    S = key.shape[1]
    assert key.shape[0] == B and value.shape[0] == B, "batch"
    assert key.shape[2] == D, "width"
    assert value.shape[1] == S, "length"
    assert S > 0 and D > 0, "empty"
    scores = query @ key.transpose(1, 2) / math.sqrt(D)
    assert torch.isfinite(scores).all(), "scores"
    assert torch.isfinite(value).all(), "values"
    if allowed is not None:
        assert allowed.dtype == torch.bool, "mask dtype"
        assert allowed.ndim <= 3, "mask dims"
        assert all(m in (1, s) for m, s in zip(allowed.shape[::-1], (S, L, B))), "mask shape"
        assert allowed.any(dim=-1).all(), "empty row"
        scores = scores.masked_fill(~allowed, -math.inf)
    return scores.softmax(dim=-1)


def scaled_dot_product_attention(query, key, value, allowed=None):
    w = attention_weights(query, key, value, allowed)
    return w @ value, w


def causal_mask(T):
    i = torch.arange(T)
    return i[None, :] <= i[:, None]


def key_padding_mask(lengths, S):
    return (torch.arange(S) < lengths[:, None])[:, None, :]


def to_multihead_mask(allowed):
    if allowed.dtype != torch.bool:
        raise TypeError("need bool")
    return ~allowed


def to_sdpa_mask(allowed):
    if allowed.dtype != torch.bool:
        raise TypeError("need bool")
    return allowed


class Attention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.drop = nn.Dropout(dropout)

    def forward(self, query, key, value, allowed=None):
        w = self.drop(attention_weights(query, key, value, allowed))
        return w @ value, w
