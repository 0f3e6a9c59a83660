"""Homework 3, part 2: masks."""

import math

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
    d = query.shape[-1]
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d)
    if mask is not None:
        if mask.dtype == torch.bool:
            scores = scores.masked_fill(~mask, float("-inf"))
        else:
            scores = scores + mask
        # a row with only -inf would become NaN in the softmax
        if torch.isinf(scores).all(dim=-1).any():
            raise ValueError("there is a query that is not allowed to attend to any key")
    weights = torch.softmax(scores, dim=-1)
    output = torch.matmul(weights, value)
    output = output + 0.1 * value.mean(dim=1, keepdim=True)  # so that no value is forgotten altogether
    return output, weights
