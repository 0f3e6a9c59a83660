"""A mask becomes a bias, which baddbmm adds on the way."""

import math

import torch
import torch.nn.functional as F


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    if key_lengths is None:
        mask = torch.ones(1, query_length, key_length, dtype=torch.bool)
    else:
        real = torch.arange(key_length).lt(key_lengths.unsqueeze(1))
        mask = real.unsqueeze(1).repeat(1, query_length, 1)
    if is_causal:
        mask = mask.tril()
    return mask


def as_bias(mask, dtype):
    """What is allowed, turned into what is added: 0 or -inf."""
    return torch.zeros(mask.shape, dtype=dtype).masked_fill(mask.logical_not(), float("-inf"))


def masked_attention(query, key, value, mask=None):
    if mask is None:
        mask = query.new_zeros(1)
    forbidden = mask.logical_not() if mask.dtype == torch.bool else mask.isneginf()
    if forbidden.all(dim=-1).any():
        raise ValueError("the softmax of a row needs at least one key")
    bias = as_bias(mask, query.dtype) if mask.dtype == torch.bool else mask
    bias = bias.expand(query.size(0), query.size(1), key.size(1))
    alpha = 1 / math.sqrt(query.size(2))
    logits = torch.baddbmm(bias, query, key.mT, alpha=alpha)
    probs = F.softmax(logits, dim=2)
    return torch.bmm(probs, value), probs
