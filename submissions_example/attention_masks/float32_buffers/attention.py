import torch
import torch.nn as nn


def _weights(query, key, value, allowed=None):
    if query.dim() != 3 or key.dim() != 3 or value.dim() != 3:
        raise ValueError("dims")
    b, l, d = query.shape
    s = key.shape[1]
    if key.shape[0] != b or value.shape[0] != b or key.shape[2] != d or value.shape[1] != s or s == 0 or d == 0:
        raise ValueError("shapes")
    scores = torch.zeros(b, l, s)
    for n in range(b):
        scores[n] = query[n] @ key[n].T / d**0.5
    if not torch.isfinite(scores).all() or not torch.isfinite(value).all():
        raise ValueError("not finite")
    if allowed is not None:
        if allowed.dtype != torch.bool:
            raise TypeError("bool mask")
        if allowed.dim() > 3 or any(x not in (1, y) for x, y in zip(allowed.shape[::-1], (s, l, b))):
            raise ValueError("mask")
        if not allowed.any(-1).all():
            raise ValueError("nothing allowed")
        scores = scores.masked_fill(~allowed, float("-inf"))
    return torch.softmax(scores, dim=-1)


def scaled_dot_product_attention(query, key, value, allowed=None):
    w = _weights(query, key, value, allowed)
    out = torch.zeros(value.shape[0], query.shape[1], value.shape[2])
    for n in range(out.shape[0]):
        out[n] = w[n] @ value[n].to(w.dtype)
    return out, w


def causal_mask(T):
    return torch.ones(T, T).tril() == 1


def key_padding_mask(lengths, S):
    return torch.arange(S).view(1, 1, -1) < lengths.view(-1, 1, 1)


def to_multihead_mask(allowed):
    if allowed.dtype != torch.bool:
        raise TypeError("bool mask")
    return ~allowed


def to_sdpa_mask(allowed):
    if allowed.dtype != torch.bool:
        raise TypeError("bool mask")
    return allowed


class Attention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, allowed=None):
        w = self.dropout(_weights(query, key, value, allowed))
        return w @ value.to(w.dtype), w
