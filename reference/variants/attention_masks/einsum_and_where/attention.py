"""Right code in another style: einsum, torch.where, nn.Dropout, one helper for all conditions."""

import math

import torch
from torch import Tensor, nn


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def _check(query: Tensor, key: Tensor, value: Tensor) -> None:
    for name, tensor in {"query": query, "key": key, "value": value}.items():
        _require(tensor.dim() == 3, f"{name} must be 3-D, got shape {tuple(tensor.shape)}")
    (batch, _, dim), (key_batch, keys, key_dim), (value_batch, values, _) = query.shape, key.shape, value.shape
    _require(batch == key_batch == value_batch, "batch sizes differ")
    _require(dim == key_dim, "query and key widths differ")
    _require(keys == values, "key and value lengths differ")
    _require(keys > 0 and dim > 0, "empty source or empty width")


def _weights(query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None) -> Tensor:
    _check(query, key, value)
    scores = torch.einsum("bld,bsd->bls", query, key) * (1.0 / math.sqrt(query.size(-1)))
    _require(bool(torch.isfinite(scores).all()), "scores must be finite")
    _require(bool(torch.isfinite(value).all()), "values must be finite")
    if allowed is None:
        return scores.softmax(dim=2)
    if not isinstance(allowed, Tensor) or allowed.dtype is not torch.bool:
        raise TypeError("allowed must be a Boolean tensor")
    try:
        allowed = torch.broadcast_to(allowed, scores.shape)
    except RuntimeError as error:
        raise ValueError("allowed cannot be broadcast to the scores") from error
    _require(bool(allowed.any(2).all()), "every query must be allowed at least one key")
    minus_infinity = torch.full_like(scores, float("-inf"))
    return torch.where(allowed, scores, minus_infinity).softmax(dim=2)


def scaled_dot_product_attention(query, key, value, allowed=None):
    weights = _weights(query, key, value, allowed)
    return torch.einsum("bls,bsv->blv", weights, value), weights


def causal_mask(T):
    return torch.ones(T, T).tril().bool()


def key_padding_mask(lengths, S):
    return (torch.arange(S).expand(len(lengths), S) < lengths.unsqueeze(1)).unsqueeze(1)


def to_multihead_mask(allowed):
    if allowed.dtype is not torch.bool:
        raise TypeError("allowed must be Boolean")
    return torch.logical_not(allowed)


def to_sdpa_mask(allowed):
    if allowed.dtype is not torch.bool:
        raise TypeError("allowed must be Boolean")
    return allowed.clone()


class Attention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.drop = nn.Dropout(dropout)

    def forward(self, query, key, value, allowed=None):
        weights = self.drop(_weights(query, key, value, allowed))
        return torch.einsum("bls,bsv->blv", weights, value), weights
