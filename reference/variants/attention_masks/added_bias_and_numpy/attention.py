"""Right code in another style: the mask becomes a bias; the module calls the function and mixes once more."""

import numpy as np
import torch
from torch import nn


def scaled_dot_product_attention(query, key, value, allowed=None):
    if {query.ndim, key.ndim, value.ndim} != {3}:
        raise ValueError("rank")
    B, L, D = query.shape
    S = key.shape[1]
    if key.shape != (B, S, D) or value.shape[:2] != (B, S):
        raise ValueError("shapes")
    if S * D == 0:
        raise ValueError("empty")
    bias = query.new_zeros(B, L, S)
    if allowed is not None:
        if allowed.dtype != torch.bool:
            raise TypeError("allowed is not Boolean")
        try:
            np.broadcast_shapes(tuple(allowed.shape), (B, L, S))
        except ValueError:
            raise
        if allowed.ndim > 3:
            raise ValueError("allowed has too many axes")
        if not torch.any(allowed, dim=-1).all():
            raise ValueError("nothing allowed")
        bias = bias.masked_fill(torch.logical_not(allowed), -np.inf)
    scores = query @ key.permute(0, 2, 1) / np.sqrt(D)
    if not (torch.isfinite(scores).all() and torch.isfinite(value).all()):
        raise ValueError("not finite")
    weights = torch.softmax(scores + bias, -1)
    return weights @ value, weights


def causal_mask(T):
    return torch.from_numpy(np.tri(T, dtype=bool))


def key_padding_mask(lengths, S):
    return torch.from_numpy(np.arange(S)[None, None, :] < lengths.numpy()[:, None, None])


def to_multihead_mask(allowed):
    if allowed.dtype == torch.bool:
        return ~allowed
    raise TypeError("allowed is not Boolean")


def to_sdpa_mask(allowed):
    if allowed.dtype == torch.bool:
        return allowed
    raise TypeError("allowed is not Boolean")


class Attention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.rate = dropout

    def forward(self, query, key, value, allowed=None):
        output, weights = scaled_dot_product_attention(query, key, value, allowed)
        if self.training and self.rate:
            keep = torch.bernoulli(torch.full_like(weights, 1 - self.rate)).bool()
            weights = weights * keep / (1 - self.rate)
            output = weights @ value
        return output, weights
