"""In-place operations, but only on tensors made a line before."""

import math

import torch
from torch.nn import functional as F


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    batch = 1 if key_lengths is None else key_lengths.shape[0]
    mask = torch.ones(batch, query_length, key_length, dtype=torch.bool)
    if is_causal:
        mask.tril_()
    if key_lengths is not None:
        mask &= torch.arange(key_length)[None, None, :] < key_lengths[:, None, None]
    return mask


def masked_attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-2, -1))
    scores /= math.sqrt(query.shape[-1])
    if mask is not None:
        if mask.dtype == torch.bool:
            scores.masked_fill_(~mask, -math.inf)
        else:
            scores += mask
        if torch.isneginf(scores).all(dim=-1).any():
            raise ValueError("at least one query cannot attend to any key")
    weights = F.softmax(scores, dim=-1)
    return torch.matmul(weights, value), weights
