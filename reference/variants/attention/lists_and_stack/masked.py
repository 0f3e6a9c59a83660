"""Lists of tensors, stacked at the end."""

import math

import torch


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    samples = []
    for length in [key_length] if key_lengths is None else key_lengths:
        rows = []
        for i in range(query_length):
            visible = min(int(length), i + 1) if is_causal else int(length)
            rows.append(torch.tensor([True] * visible + [False] * (key_length - visible))[:key_length])
        samples.append(torch.stack(rows))
    return torch.stack(samples)


def masked_attention(query, key, value, mask=None):
    if mask is not None:
        mask = mask.expand(len(query), query.shape[1], key.shape[1])
    outputs, weights = [], []
    for b in range(len(query)):
        scores = query[b] @ key[b].T / math.sqrt(query.shape[-1])
        if mask is not None:
            one = mask[b]
            bias = torch.zeros_like(scores).masked_fill(~one, -math.inf) if one.dtype == torch.bool else one
            if any(torch.isinf(row).all() for row in bias):
                raise ValueError(f"sample {b} has a query that may attend to nothing")
            scores = scores + bias
        weights.append(torch.softmax(scores, dim=-1))
        outputs.append(weights[b] @ value[b])
    return torch.stack(outputs), torch.stack(weights)
