"""A Boolean mask is turned into an additive one, and both take the same way."""

import math

import torch


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    bias = torch.zeros(1, query_length, key_length)
    if is_causal:
        bias = bias + torch.full((query_length, key_length), -math.inf).triu(1)
    if key_lengths is not None:
        padding = torch.arange(key_length) >= key_lengths[:, None, None]
        bias = bias + torch.zeros(padding.shape).masked_fill_(padding, -math.inf)
    return bias == 0


def to_bias(mask, like):
    if mask is None:
        return torch.zeros((), dtype=like.dtype)
    if mask.dtype != torch.bool:
        return mask
    return torch.zeros(mask.shape, dtype=like.dtype).masked_fill_(~mask, -math.inf)


def masked_attention(query, key, value, mask=None):
    bias = to_bias(mask, query)
    if bias.dim() and (bias.max(dim=-1).values == -math.inf).any():
        raise ValueError("the mask leaves a query without any key")
    logits = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1]) + bias
    weights = torch.softmax(logits, dim=-1)
    return weights @ value, weights
