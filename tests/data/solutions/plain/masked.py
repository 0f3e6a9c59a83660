"""Masks, and attention that obeys them."""

import math

import torch


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    L, S = query_length, key_length
    keep = torch.ones(1, L, S, dtype=torch.bool)
    if is_causal:
        past = torch.ones(L, S, dtype=torch.bool).tril()
        keep = keep & past
    if key_lengths is not None:
        real = torch.arange(S) < key_lengths[:, None]
        real = real[:, None, :]
        keep = keep & real
    return keep


def check_mask(q, k, mask):
    if mask.dtype == torch.bool:
        allowed = mask
    else:
        allowed = mask != float("-inf")
    allowed = allowed.expand(q.size(0), q.size(1), k.size(1))
    if not allowed.any(dim=-1).all():
        raise ValueError("a query has no key to attend to")


def sdpa(q, k, v, mask=None):
    d = q.size(-1)
    s = q @ k.transpose(-2, -1)
    s = s / math.sqrt(d)
    if mask is not None:
        if mask.dtype == torch.bool:
            s = s.masked_fill(~mask, float("-inf"))
        else:
            s = s + mask
    p = torch.softmax(s, dim=-1)
    y = p @ v
    return y, p


def masked_attention(query, key, value, mask=None):
    if mask is not None:
        check_mask(query, key, mask)
    return sdpa(query, key, value, mask)
