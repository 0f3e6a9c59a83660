"""Samples one after the other; forbidden keys are left out of the softmax altogether."""

import math

import torch


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    lengths = [key_length] if key_lengths is None else [int(n) for n in key_lengths]
    table = [
        [[j < n and (j <= i or not is_causal) for j in range(key_length)] for i in range(query_length)]
        for n in lengths
    ]
    return torch.tensor(table, dtype=torch.bool)


def masked_attention(query, key, value, mask=None):
    B, L, S = len(query), query.shape[1], key.shape[1]
    if mask is None:
        mask = torch.ones(1, dtype=torch.bool)
    mask = torch.broadcast_to(mask, (B, L, S))
    bias = torch.zeros(B, L, S, dtype=query.dtype) if mask.dtype == torch.bool else mask
    allowed = mask if mask.dtype == torch.bool else mask > -math.inf
    weights = torch.zeros(B, L, S, dtype=query.dtype)
    for b in range(B):
        for i in range(L):
            keep = allowed[b, i].nonzero().flatten()
            if len(keep) == 0:
                raise ValueError(f"query {i} of sample {b} may attend to nothing")
            scores = key[b, keep] @ query[b, i] / math.sqrt(query.shape[-1])
            weights[b, i, keep] = torch.softmax(scores + bias[b, i, keep], dim=0)
    return weights @ value, weights
