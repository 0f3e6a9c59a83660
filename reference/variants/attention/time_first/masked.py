"""Time first, [T, B, D], and scores as [query, key, batch]: the softmax runs over axis 1."""

import torch


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    mask = torch.ones(query_length, key_length, 1, dtype=torch.bool)
    if is_causal:
        steps = torch.arange(max(query_length, key_length))
        mask = (steps[:query_length, None] >= steps[None, :key_length]).unsqueeze(-1)
    if key_lengths is not None:
        mask = mask & (torch.arange(key_length).unsqueeze(1) < key_lengths).unsqueeze(0)
    return mask.permute(2, 0, 1)


def masked_attention(query, key, value, mask=None):
    query, key, value = (x.transpose(0, 1) for x in (query, key, value))
    scores = torch.einsum("lbd,sbd->lsb", query, key) / query.size(-1) ** 0.5
    if mask is not None:
        mask = mask.expand(query.size(1), query.size(0), key.size(0)).permute(1, 2, 0)
        if mask.dtype == torch.bool:
            scores = scores.masked_fill(~mask, float("-inf"))
        else:
            scores = scores + mask
        if not (scores > float("-inf")).any(dim=1).all():
            raise ValueError("a query without keys")
    weights = torch.softmax(scores, dim=1)
    output = torch.einsum("lsb,sbv->lbv", weights, value)
    return output.transpose(0, 1), weights.permute(2, 0, 1)
