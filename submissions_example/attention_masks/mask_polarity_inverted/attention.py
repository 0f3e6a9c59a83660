"""True means masked, like in nn.MultiheadAttention."""
import math
import torch
from torch import nn


def weights_of(q, k, v, mask):
    if not q.ndim == k.ndim == v.ndim == 3:
        raise ValueError("3 dims please")
    B, L, D = q.shape
    _, S, _ = k.shape
    if k.shape[0] != B or v.shape[0] != B:
        raise ValueError("batch")
    if k.shape[2] != D:
        raise ValueError("width")
    if v.shape[1] != S:
        raise ValueError("length")
    if S == 0 or D == 0:
        raise ValueError("empty")
    scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(D)
    if not torch.isfinite(scores).all() or not torch.isfinite(v).all():
        raise ValueError("not finite")
    if mask is not None:
        if mask.dtype != torch.bool:
            raise TypeError("mask must be bool")
        if mask.ndim > 3:
            raise ValueError("mask shape")
        try:
            mask = mask.expand(B, L, S)
        except RuntimeError:
            raise ValueError("mask shape")
        if mask.all(dim=-1).any():
            raise ValueError("everything is masked")
        scores = scores.masked_fill(mask, -math.inf)
    return scores.softmax(-1)


def scaled_dot_product_attention(query, key, value, allowed=None):
    w = weights_of(query, key, value, allowed)
    return torch.bmm(w, value), w


def causal_mask(T):
    return torch.ones(T, T).triu(1).bool()


def key_padding_mask(lengths, S):
    return (torch.arange(S)[None] >= lengths[:, None])[:, None]


def to_multihead_mask(allowed):
    if allowed.dtype != torch.bool:
        raise TypeError("mask must be bool")
    return allowed  # already the same convention


def to_sdpa_mask(allowed):
    if allowed.dtype != torch.bool:
        raise TypeError("mask must be bool")
    return ~allowed


class Attention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, allowed=None):
        w = self.dropout(weights_of(query, key, value, allowed))
        return torch.bmm(w, value), w
