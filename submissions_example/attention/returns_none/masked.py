"""Solution for masks"""

from math import sqrt

import torch


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    mask = torch.ones(1, query_length, key_length, dtype=torch.bool)
    if is_causal:
        mask = torch.tril(mask)
    if key_lengths is not None:
        positions = torch.arange(key_length)
        real = positions[None, :] < key_lengths[:, None]    # (B, S)
        mask = mask & real[:, None, :]                      # (B, L, S)
    return mask


def masked_attention(query, key, value, mask=None):
    dim = query.shape[-1]
    energy = torch.matmul(query, key.transpose(-2, -1)) / sqrt(dim)
    if mask is not None:
        if mask.dtype == torch.bool:
            energy = energy.masked_fill(~mask, float("-inf"))
        else:
            energy = energy + mask
        # a row with only -inf would become NaN in the softmax
        if torch.isinf(energy).all(dim=-1).any():
            raise ValueError("there is a query that is not allowed to attend to any key")
    weights = torch.softmax(energy, dim=-1)
    output = torch.matmul(weights, value)
