"""Every product is an einsum, every mask a torch.where."""

import torch
from torch import einsum


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    i = torch.arange(query_length)[None, :, None]
    j = torch.arange(key_length)[None, None, :]
    visible = torch.ones(1, query_length, key_length, dtype=torch.bool)
    if is_causal:
        visible = torch.where(j > i, False, visible)
    if key_lengths is not None:
        visible = torch.where(j < key_lengths[:, None, None], visible, False)
    return visible


def masked_attention(query, key, value, mask=None):
    temperature = query.size(-1) ** 0.5
    affinity = einsum("bic,bjc->bij", query, key) / temperature
    if mask is not None:
        seen = mask > -torch.inf if mask.is_floating_point() else mask
        if not seen.any(dim=-1).all():
            raise ValueError("some query sees no key")
        if mask.is_floating_point():
            affinity = affinity + mask
        else:
            affinity = torch.where(mask, affinity, -torch.inf)
    attn = affinity.softmax(dim=-1)
    return einsum("bij,bjz->biz", attn, value), attn
