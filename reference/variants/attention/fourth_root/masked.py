"""Query and key are each scaled by the fourth root, which keeps their product small from the start."""

import torch


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    rows = torch.arange(1, query_length + 1) if is_causal else torch.full((query_length,), key_length)
    limit = rows[None, :, None]
    if key_lengths is not None:
        limit = torch.minimum(limit, key_lengths[:, None, None])
    return torch.arange(key_length) < limit


def masked_attention(query, key, value, mask=None):
    root = query.shape[-1] ** 0.25
    scores = (query / root) @ (key / root).transpose(-1, -2)
    if mask is not None:
        is_boolean = mask.dtype == torch.bool
        if torch.any(torch.all(~mask if is_boolean else mask == -torch.inf, dim=-1)):
            raise ValueError("nothing is allowed")
        scores = scores.masked_fill(~mask, -torch.inf) if is_boolean else scores + mask
    weights = scores.softmax(dim=-1)
    return weights @ value, weights
