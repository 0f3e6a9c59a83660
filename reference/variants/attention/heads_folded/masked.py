"""Batched products, with everything folded to three axes."""

import torch


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    if key_lengths is None:
        key_lengths = torch.tensor([key_length])
    mask = torch.arange(key_length).expand(len(key_lengths), key_length) < key_lengths.unsqueeze(1)
    mask = mask.unsqueeze(1).repeat(1, query_length, 1)
    return mask.tril() if is_causal else mask


def masked_attention(query, key, value, mask=None):
    shape = (query.size(0), query.size(1), key.size(1))
    additive = torch.zeros(shape, dtype=query.dtype)
    if mask is not None:
        if mask.dtype == torch.bool:
            additive = additive.masked_fill(mask.expand(shape).logical_not(), -torch.inf)
        else:
            additive = mask.expand(shape)
    if torch.isinf(additive).all(dim=-1).any():
        raise ValueError("masked out completely")
    scores = torch.baddbmm(additive, query, key.permute(0, 2, 1), alpha=query.size(-1) ** (-1 / 2))
    weights = scores.softmax(dim=-1)
    return torch.bmm(weights, value), weights
