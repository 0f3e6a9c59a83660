"""Right code in another style: a loop over samples and queries, lists put together at the end."""

import math

import torch
from torch import nn


def attend(query, key, value, allowed, drop):
    for tensor in (query, key, value):
        if len(tensor.shape) != 3:
            raise ValueError("need [batch, length, width]")
    if len(query) != len(key) or len(query) != len(value):
        raise ValueError("batch sizes differ")
    dim, length = key.shape[2], key.shape[1]
    if query.shape[2] != dim or value.shape[1] != length or dim < 1 or length < 1:
        raise ValueError("sizes do not fit")
    if not torch.isfinite(value).all():
        raise ValueError("values are not finite")
    if allowed is not None:
        if allowed.dtype != torch.bool:
            raise TypeError("mask is not Boolean")
        while allowed.ndim < 3:
            allowed = allowed.unsqueeze(0)
        wanted = (len(query), query.shape[1], length)
        if allowed.ndim > 3 or any(a != 1 and a != b for a, b in zip(allowed.shape, wanted)):
            raise ValueError("mask does not fit")
        allowed = allowed.expand(wanted)
    samples = []
    for b in range(len(query)):
        rows = []
        for i in range(query.shape[1]):
            scores = (key[b] * query[b, i]).sum(dim=1) / math.sqrt(dim)
            if not torch.isfinite(scores).all():
                raise ValueError("a score is not finite")
            if allowed is not None:
                if not any(allowed[b, i].tolist()):
                    raise ValueError("nothing allowed")
                scores = scores.masked_fill(~allowed[b, i], -math.inf)
            rows.append(torch.softmax(scores, dim=0))
        samples.append(torch.stack(rows))
    weights = drop(torch.stack(samples))
    output = torch.stack([w @ v for w, v in zip(weights, value)])
    return output, weights


def scaled_dot_product_attention(query, key, value, allowed=None):
    return attend(query, key, value, allowed, lambda weights: weights)


def causal_mask(T):
    return torch.tensor([[key <= query for key in range(T)] for query in range(T)])


def key_padding_mask(lengths, S):
    return torch.stack([torch.arange(S) < length for length in lengths])[:, None, :]


def to_multihead_mask(allowed):
    if allowed.dtype != torch.bool:
        raise TypeError("mask is not Boolean")
    return allowed.bitwise_not()


def to_sdpa_mask(allowed):
    if allowed.dtype != torch.bool:
        raise TypeError("mask is not Boolean")
    return allowed.detach()


class Attention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.drop = nn.Dropout(dropout)

    def forward(self, query, key, value, allowed=None):
        return attend(query, key, value, allowed, self.drop)
