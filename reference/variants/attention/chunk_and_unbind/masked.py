"""Masks from cumulative sums, attention sample by sample."""

import torch
import torch.nn.functional as F


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    position = torch.ones(query_length, key_length, dtype=torch.long).cumsum(1)  # 1, 2, 3, ...
    limit = torch.ones(query_length, 1, dtype=torch.long).cumsum(0)
    mask = position <= limit if is_causal else position > 0
    if key_lengths is None:
        return mask
    return torch.stack([mask & (position <= length) for length in key_lengths.unbind()])


def masked_attention(query, key, value, mask=None):
    scores = query @ key.mT * query.size(-1) ** -0.5
    if mask is None:
        allowed = torch.ones_like(scores).bool()
    elif mask.dtype == torch.bool:
        allowed = mask.expand_as(scores)
    else:
        allowed = mask.expand_as(scores).isfinite()
        scores = scores + mask
    if allowed.sum(dim=-1).min() == 0:
        raise ValueError("a query may attend to nothing")
    weights = F.softmax(scores.where(allowed, scores.new_tensor(-torch.inf)), dim=-1)
    return weights @ value, weights
