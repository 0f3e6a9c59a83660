"""Right code in another style: query and key are scaled before they meet; weights are cleared once more."""

import torch
from torch import nn


def attention_weights(q, k, v, allowed=None):
    shapes_ok = (
        q.ndim == k.ndim == v.ndim == 3
        and q.shape[0] == k.shape[0] == v.shape[0]
        and q.shape[2] == k.shape[2]
        and k.shape[1] == v.shape[1]
        and k.shape[1] >= 1
        and k.shape[2] >= 1
    )
    if not shapes_ok:
        raise ValueError(f"shapes do not fit: {q.shape}, {k.shape}, {v.shape}")
    fourth_root = q.shape[2] ** 0.25
    s = torch.bmm(q / fourth_root, (k / fourth_root).transpose(1, 2))
    if not torch.isfinite(s).all() or not torch.isfinite(v).all():
        raise ValueError("not finite")
    if allowed is None:
        return s.softmax(-1)
    if allowed.dtype != torch.bool:
        raise TypeError("Boolean mask wanted")
    if allowed.ndim > 3:
        raise ValueError("mask has too many axes")
    try:
        hidden = ~allowed.expand(s.shape)
    except RuntimeError as problem:
        raise ValueError("mask does not fit") from problem
    if hidden.all(dim=-1).any():
        raise ValueError("a row is hidden throughout")
    s = s - s.masked_fill(hidden, -torch.inf).amax(dim=-1, keepdim=True).detach()
    e = s.masked_fill(hidden, -torch.inf).exp()
    return (e / e.sum(-1, keepdim=True)).masked_fill(hidden, 0.0)


def scaled_dot_product_attention(query, key, value, allowed=None):
    w = attention_weights(query, key, value, allowed)
    return torch.bmm(w, value), w


def causal_mask(T):
    return torch.full((T, T), True).tril()


def key_padding_mask(lengths, S):
    return torch.lt(torch.arange(S).view(1, 1, S), lengths.view(-1, 1, 1))


def to_multihead_mask(allowed):
    _check(allowed)
    return allowed.clone().logical_not_()


def to_sdpa_mask(allowed):
    _check(allowed)
    return allowed


def _check(mask):
    if mask.dtype != torch.bool:
        raise TypeError("Boolean mask wanted")


class Attention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.register_buffer("rate", torch.tensor(float(dropout)), persistent=False)

    def forward(self, query, key, value, allowed=None):
        w = attention_weights(query, key, value, allowed)
        w = nn.functional.dropout(w, p=float(self.rate), training=self.training, inplace=False)
        return torch.bmm(w, value), w
