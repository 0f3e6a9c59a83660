"""Broadcast products instead of matrix products; weights through log_softmax."""

import torch


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    grid = torch.meshgrid(torch.arange(query_length), torch.arange(key_length), indexing="ij")
    mask = (grid[0] >= grid[1]) | (not is_causal)
    if key_lengths is None:
        return mask.unsqueeze(0)
    return mask & (grid[1] < key_lengths.view(-1, 1, 1))


def masked_attention(query, key, value, mask=None):
    scores = (query.unsqueeze(2) * key.unsqueeze(1)).sum(-1) / query.size(-1) ** 0.5
    if mask is not None:
        if mask.dtype == torch.bool:
            if not mask.any(-1).all():
                raise ValueError("empty row in a Boolean mask")
            scores = scores.masked_fill(mask.logical_not(), -torch.inf)
        else:
            if mask.isneginf().all(-1).any():
                raise ValueError("empty row in an additive mask")
            scores = scores + mask
    weights = torch.log_softmax(scores, dim=-1).exp()
    return (weights.unsqueeze(-1) * value.unsqueeze(1)).sum(2), weights
