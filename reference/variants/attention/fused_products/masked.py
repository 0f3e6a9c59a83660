"""bmm and baddbmm, with the scale as their alpha and the mask as what is added."""

import torch


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    key_lengths = torch.tensor([key_length]) if key_lengths is None else key_lengths
    mask = torch.zeros(len(key_lengths), query_length, key_length, dtype=torch.bool)
    for b, length in enumerate(key_lengths):
        mask[b, :, :length] = True
    return torch.tril(mask) if is_causal else mask


def masked_attention(query, key, value, mask=None):
    bias = torch.zeros(1, 1, 1, dtype=query.dtype)
    if mask is not None and mask.dtype == torch.bool:
        bias = torch.zeros(mask.shape, dtype=query.dtype)
        bias[~mask] = -torch.inf
    elif mask is not None:
        bias = mask
    if torch.logical_and(bias.isinf(), bias < 0).all(dim=-1).any():
        raise ValueError("the softmax of nothing is undefined")
    bias = bias.expand(query.size(0), query.size(1), key.size(1))
    scores = torch.baddbmm(bias, query, key.transpose(1, 2), alpha=query.size(2) ** -0.5)
    weights = torch.nn.functional.softmax(scores, dim=2)
    return torch.bmm(weights, value), weights
