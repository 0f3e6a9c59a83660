"""Right code in another style: a softmax by hand, dropout drawn by hand, conditions in a list."""

import torch
from torch import nn


def faults(query, key, value):
    yield any(t.ndim != 3 for t in (query, key, value)), "three axes each"
    yield len({t.shape[0] for t in (query, key, value)}) > 1, "one number of samples"
    yield query.shape[2] != key.shape[2], "one width of query and key"
    yield key.shape[1] != value.shape[1], "a value for each key"
    yield 0 in (key.shape[1], key.shape[2]), "at least one key of at least one element"


def weigh(query, key, value, allowed):
    for is_there, wanted in faults(query, key, value):
        if is_there:
            raise ValueError(f"wanted {wanted}")
    scores = torch.matmul(query, key.mT) / query.shape[-1] ** 0.5
    for tensor in (scores, value):
        if not torch.all(tensor.abs() < float("inf")):
            raise ValueError("wanted finite numbers")
    if allowed is None:
        allowed = torch.ones_like(scores, dtype=torch.bool)
    elif allowed.dtype != torch.bool:
        raise TypeError(f"wanted a Boolean mask, got {allowed.dtype}")
    else:
        shape = (1,) * (3 - allowed.ndim) + tuple(allowed.shape)
        if len(shape) > 3 or any(a not in (1, b) for a, b in zip(shape, scores.shape)):
            raise ValueError(f"a mask {tuple(allowed.shape)} does not fit scores {tuple(scores.shape)}")
        allowed = allowed.expand_as(scores)
    if (allowed.sum(dim=-1) == 0).any():
        raise ValueError("a query has nothing to attend to")
    scores = scores.masked_fill(allowed.logical_not(), float("-inf"))
    shifted = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return shifted / shifted.sum(dim=-1, keepdim=True)


def scaled_dot_product_attention(query, key, value, allowed=None):
    weights = weigh(query, key, value, allowed)
    return torch.matmul(weights, value), weights


def causal_mask(T):
    positions = torch.arange(T)
    return positions.unsqueeze(0) <= positions.unsqueeze(1)


def key_padding_mask(lengths, S):
    mask = torch.zeros(lengths.shape[0], 1, S, dtype=torch.bool)
    for sample, length in enumerate(lengths.tolist()):
        mask[sample, :, :length] = True
    return mask


def to_multihead_mask(allowed):
    return to_sdpa_mask(allowed) ^ True


def to_sdpa_mask(allowed):
    if allowed.dtype != torch.bool:
        raise TypeError("wanted a Boolean mask")
    return allowed


class Attention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.p = dropout

    def forward(self, query, key, value, allowed=None):
        weights = weigh(query, key, value, allowed)
        if self.training and self.p > 0:
            stays = torch.rand(weights.shape) >= self.p
            weights = torch.where(stays, weights / (1 - self.p), torch.zeros_like(weights))
        return weights @ value, weights
