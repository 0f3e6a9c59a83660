"""Masks as products of two simple ones."""

import torch


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    causal = torch.ones(query_length, key_length)
    if is_causal:
        causal = causal.tril()
    real = torch.ones(1, key_length)
    if key_lengths is not None:
        real = (torch.arange(key_length).repeat(len(key_lengths), 1) < key_lengths[:, None]).float()
    return (causal[None] * real[:, None]).bool()


def masked_attention(query, key, value, mask=None):
    scores = query.matmul(key.transpose(2, 1)).div(query.shape[2] ** 0.5)
    if mask is not None:
        if mask.is_floating_point():
            scores = scores.add(mask)
        else:
            scores = scores.masked_fill(mask.logical_not(), float("-inf"))
        if scores.isneginf().all(2).any():
            raise ValueError("empty row")
    weights = scores.softmax(2)
    return weights.matmul(value), weights
