"""A softmax written by hand, over the allowed keys only."""

import torch


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    if is_causal:
        mask = torch.tril(torch.ones(query_length, key_length)) == 1
    else:
        mask = torch.ones(query_length, key_length) == 1
    if key_lengths is None:
        return mask
    return torch.stack([mask & (torch.arange(key_length) < n) for n in key_lengths])


def masked_softmax(x, allowed):
    """Numerator and denominator skip what is not allowed; the maximum is that of the allowed ones."""
    largest = x.masked_fill(~allowed, float("-inf")).max(dim=-1, keepdim=True).values.detach()
    shifted = torch.where(allowed, x - largest, torch.zeros_like(x))
    exps = torch.exp(shifted) * allowed
    return exps / exps.sum(dim=-1, keepdim=True)


def masked_attention(query, key, value, mask=None):
    scores = torch.matmul(query, torch.transpose(key, 1, 2)) / query.shape[2] ** 0.5
    allowed = torch.ones_like(scores, dtype=torch.bool)
    if mask is not None and mask.dtype == torch.bool:
        allowed = allowed & mask
    elif mask is not None:
        allowed = allowed & (mask != float("-inf"))
        scores = scores + torch.where(mask == float("-inf"), torch.zeros_like(mask), mask)
    if not allowed.any(dim=-1).all():
        raise ValueError("cannot normalise an empty row")
    weights = masked_softmax(scores, allowed)
    return torch.matmul(weights, value), weights
