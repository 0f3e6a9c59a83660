"""Right code in another style: the lowest finite number instead of infinity, the function built on the module."""

import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        self.softmax = nn.Softmax(dim=-1)

    @staticmethod
    def validate(query, key, value):
        if not (query.dim() == key.dim() == value.dim() == 3):
            raise ValueError("expected 3-D tensors")
        if query.size(0) != key.size(0) or key.size(0) != value.size(0):
            raise ValueError("batch mismatch")
        if query.size(-1) != key.size(-1):
            raise ValueError("width mismatch")
        if key.size(1) != value.size(1):
            raise ValueError("length mismatch")
        if key.numel() == 0:
            raise ValueError("empty key")

    def forward(self, query, key, value, allowed=None):
        self.validate(query, key, value)
        if allowed is not None and allowed.dtype != torch.bool:
            raise TypeError("allowed must be boolean")
        scores = query.matmul(key.transpose(-1, -2)).div(math.sqrt(query.size(-1)))
        if torch.isnan(scores).any() or torch.isinf(scores).any():
            raise ValueError("non-finite score")
        if torch.isnan(value).any() or torch.isinf(value).any():
            raise ValueError("non-finite value")
        if allowed is not None:
            try:
                full = allowed.expand(scores.shape)
            except RuntimeError:
                raise ValueError("mask shape") from None
            if not full.any(-1).all():
                raise ValueError("a query is not allowed anything")
            scores = scores.masked_fill(~full, torch.finfo(scores.dtype).min)
        weights = self.dropout(self.softmax(scores))
        return weights.matmul(value), weights


def scaled_dot_product_attention(query, key, value, allowed=None):
    return Attention().eval()(query, key, value, allowed)


def causal_mask(T):
    mask = torch.zeros((T, T), dtype=torch.bool)
    for i in range(T):
        mask[i, : i + 1] = True
    return mask


def key_padding_mask(lengths, S):
    rows = [[position < length for position in range(S)] for length in lengths.tolist()]
    return torch.tensor(rows, dtype=torch.bool)[:, None]


def to_multihead_mask(allowed):
    if allowed.dtype != torch.bool:
        raise TypeError("allowed must be boolean")
    return torch.where(allowed, torch.tensor(False), torch.tensor(True))


def to_sdpa_mask(allowed):
    if allowed.dtype != torch.bool:
        raise TypeError("allowed must be boolean")
    return ~to_multihead_mask(allowed)
