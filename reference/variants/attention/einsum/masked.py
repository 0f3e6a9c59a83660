"""Everything as einsum."""

import torch
from torch import einsum


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    i = torch.arange(query_length).view(1, -1, 1)
    j = torch.arange(key_length).view(1, 1, -1)
    mask = (j <= i) if is_causal else (j >= 0)
    return mask if key_lengths is None else mask & (j < key_lengths.view(-1, 1, 1))


def masked_attention(query, key, value, mask=None):
    scores = einsum("bld,bsd->bls", query, key) * query.shape[-1] ** -0.5
    if mask is not None and mask.dtype is torch.bool:
        scores = torch.where(mask, scores, -torch.inf)
    elif mask is not None:
        scores = scores + mask
    if (scores == -torch.inf).all(-1).any():
        raise ValueError("nothing to attend to")
    weights = scores.softmax(-1)
    return einsum("bls,bsv->blv", weights, value), weights
