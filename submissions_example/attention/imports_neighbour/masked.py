"""Masked attention. Works for [B, L, D] and for [B, H, L, D], multi_head.py uses that."""
import torch


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    mask = torch.ones(1, query_length, key_length, dtype=torch.bool)
    if is_causal:
        mask = mask.tril()
    if key_lengths is not None:
        mask = mask & (torch.arange(key_length) < key_lengths.unsqueeze(-1)).unsqueeze(1)
    return mask


def masked_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    if mask is None:
        weights = scores.softmax(dim=-1)
        return weights @ value, weights
    is_bool = mask.dtype == torch.bool
    forbidden = ~mask if is_bool else mask == float("-inf")
    if forbidden.all(dim=-1).any():
        raise ValueError("a query may attend to nothing")
    if not is_bool:
        scores = scores + mask
    weights = scores.masked_fill(forbidden, float("-inf")).softmax(dim=-1)
    return weights @ value, weights
