"""Scores held as [key, query], so that the softmax runs over the axis before the last."""

import math

import torch


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    columns = torch.ones(1, key_length, query_length, dtype=torch.bool)
    if is_causal:
        columns = columns.triu()
    if key_lengths is not None:
        columns = columns & (torch.arange(key_length)[:, None] < key_lengths[:, None, None])
    return columns.mT


def masked_attention(query, key, value, mask=None):
    scores = torch.bmm(key, query.mT) / math.sqrt(query.size(2))
    if mask is not None:
        columns = mask.expand(query.size(0), query.size(1), key.size(1)).mT
        forbidden = ~columns if columns.dtype == torch.bool else columns.isneginf()
        if forbidden.all(dim=1).any():
            raise ValueError("some query is left with no key at all")
        scores = scores.masked_fill(forbidden, -math.inf)
        if columns.dtype != torch.bool:
            scores = scores + columns.masked_fill(forbidden, 0.0)
    columns = torch.softmax(scores, dim=1)
    return torch.bmm(value.mT, columns).mT, columns.mT
