"""The softmax in float32, as in mixed precision; everything else in the dtype of the inputs."""

import math

import torch
from torch.nn.functional import softmax


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    mask = torch.ones(1, query_length, key_length, dtype=torch.bool)
    if is_causal:
        mask = mask.logical_and(torch.ones(query_length, key_length).tril())
    if key_lengths is not None:
        mask = mask.logical_and(torch.arange(key_length)[None, None] < key_lengths[:, None, None])
    return mask


def masked_attention(query, key, value, mask=None):
    scores = query @ key.transpose(1, 2) / math.sqrt(query.size(-1))
    if mask is not None:
        if mask.dtype == torch.bool:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
            empty = ~mask.any(-1)
        else:
            scores = scores + mask
            empty = (mask == -math.inf).all(-1)
        if empty.any():
            raise ValueError("a query may attend to nothing")
    weights = softmax(scores, dim=-1, dtype=torch.float32).type_as(query)
    return weights @ value, weights
