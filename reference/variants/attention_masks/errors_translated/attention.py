"""Right code in another style: what torch raises is caught and said again; checks stand where they are needed."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def get_scores(q, k):
    if q.ndim != 3 or k.ndim != 3 or len(q) != len(k):
        raise ValueError("bad query or key")
    try:
        scores = torch.bmm(q, k.transpose(1, 2))
    except RuntimeError as e:
        raise ValueError(str(e))
    if scores.shape[-1] == 0 or q.shape[-1] == 0:
        raise ValueError("nothing to attend to")
    scores = scores * q.shape[-1] ** -0.5
    if not scores.isfinite().all():
        raise ValueError("non-finite scores")
    return scores


def apply_mask(scores, allowed):
    if allowed is None:
        return scores
    if allowed.dtype != torch.bool:
        raise TypeError("mask must be bool")
    if allowed.ndim > scores.ndim:
        raise ValueError("too many mask dims")
    try:
        out = scores.masked_fill(~allowed, float("-inf"))
    except RuntimeError as e:
        raise ValueError(str(e))
    if torch.isinf(out).all(dim=-1).any():
        raise ValueError("fully masked row")
    return out


def apply_weights(w, v):
    if v.ndim != 3 or len(w) != len(v):
        raise ValueError("bad value")
    if v.shape[1] != w.shape[2]:
        raise ValueError("value length")
    if not v.isfinite().all():
        raise ValueError("non-finite values")
    return torch.bmm(w, v)


def scaled_dot_product_attention(query, key, value, allowed=None):
    w = F.softmax(apply_mask(get_scores(query, key), allowed), dim=-1)
    return apply_weights(w, value), w


def causal_mask(T):
    return ~torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1)


def key_padding_mask(lengths, S):
    idx = torch.arange(S)[None, None, :]
    return idx < lengths[:, None, None]


def _bool_only(m):
    if m.dtype != torch.bool:
        raise TypeError("mask must be bool")


def to_multihead_mask(allowed):
    _bool_only(allowed)
    return allowed == False  # noqa: E712


def to_sdpa_mask(allowed):
    _bool_only(allowed)
    return allowed == True  # noqa: E712


class Attention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = dropout

    def forward(self, query, key, value, allowed=None):
        w = F.softmax(apply_mask(get_scores(query, key), allowed), dim=-1)
        w = F.dropout(w, p=self.dropout, training=self.training)
        return apply_weights(w, value), w
