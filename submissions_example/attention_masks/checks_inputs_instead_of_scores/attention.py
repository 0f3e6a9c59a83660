"""Attention with input validation."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def _check_inputs(query, key, value):
    if query.dim() != 3 or key.dim() != 3 or value.dim() != 3:
        raise ValueError("query, key and value must be 3-dimensional")
    if not (query.size(0) == key.size(0) == value.size(0)):
        raise ValueError("batch sizes must match")
    if query.size(2) != key.size(2):
        raise ValueError("query and key must have the same width")
    if key.size(1) != value.size(1):
        raise ValueError("key and value must have the same length")
    if key.size(1) == 0 or key.size(2) == 0:
        raise ValueError("source must not be empty")


def _check_mask(allowed, shape):
    if allowed.dtype != torch.bool:
        raise TypeError("allowed must be a boolean mask")
    try:
        allowed = allowed.expand(shape)
    except RuntimeError:
        raise ValueError(f"mask of shape {tuple(allowed.shape)} does not fit {tuple(shape)}")
    if not allowed.any(dim=-1).all():
        raise ValueError("each query needs at least one allowed key")
    return allowed


def _attention_weights(query, key, value, allowed):
    _check_inputs(query, key, value)
    scores = query @ key.transpose(1, 2) / math.sqrt(query.size(-1))
    for t in (query, key, value):
        if torch.isnan(t).any() or torch.isinf(t).any():
            raise ValueError("inputs must be finite")
    if allowed is not None:
        allowed = _check_mask(allowed, scores.shape)
        scores = scores.masked_fill(~allowed, float("-inf"))
    return F.softmax(scores, dim=-1)


def scaled_dot_product_attention(query, key, value, allowed=None):
    weights = _attention_weights(query, key, value, allowed)
    return weights @ value, weights


def causal_mask(T):
    return torch.tril(torch.ones(T, T, dtype=torch.bool))


def key_padding_mask(lengths, S):
    positions = torch.arange(S).unsqueeze(0)
    return (positions < lengths.unsqueeze(1)).unsqueeze(1)


def to_multihead_mask(allowed):
    if allowed.dtype != torch.bool:
        raise TypeError("allowed must be a boolean mask")
    return ~allowed


def to_sdpa_mask(allowed):
    if allowed.dtype != torch.bool:
        raise TypeError("allowed must be a boolean mask")
    return allowed


class Attention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, allowed=None):
        weights = _attention_weights(query, key, value, allowed)
        weights = self.dropout(weights)
        return weights @ value, weights

