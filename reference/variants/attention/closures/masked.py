"""Functions that make functions."""

import functools

import torch


def causal(i, j):
    return j <= i


def everything(i, j):
    return (i >= 0) & (j >= 0)


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    i, j = torch.arange(query_length)[None, :, None], torch.arange(key_length)[None, None, :]
    rules = [causal if is_causal else everything]
    if key_lengths is not None:
        rules.append(lambda i, j: j < key_lengths[:, None, None])
    return functools.reduce(torch.logical_and, (rule(i, j) for rule in rules))


@functools.singledispatch
def apply_mask(mask, scores):
    raise TypeError(f"no mask: {mask!r}")


@apply_mask.register
def _(mask: None, scores):
    return scores


@apply_mask.register
def _(mask: torch.Tensor, scores):
    fill = functools.partial(scores.masked_fill, value=float("-inf"))
    return fill(~mask) if mask.dtype is torch.bool else scores + mask


def masked_attention(query, key, value, mask=None):
    scores = apply_mask(mask, query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5)
    if torch.any(scores.amax(dim=-1) == float("-inf")):
        raise ValueError("a query may attend to nothing")
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
