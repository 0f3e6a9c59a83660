"""The backward pass written by hand, as a torch.autograd.Function."""

import torch
from single_head import Attention


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    mask = torch.ones(query_length, key_length, dtype=torch.bool)
    if is_causal:
        mask = mask.tril()
    if key_lengths is not None:
        mask = mask & (torch.arange(key_length) < key_lengths.reshape(-1, 1, 1))
    return mask


def masked_attention(query, key, value, mask=None):
    bias = query.new_zeros(())
    if mask is not None:
        bias = torch.where(mask, 0.0, float("-inf")).to(query.dtype) if mask.dtype == torch.bool else mask
        if bias.isneginf().all(dim=-1).any():
            raise ValueError("a query has nothing to attend to")
    return Attention.apply(query, key, value, bias)
