from __future__ import annotations

import torch
from torch import Tensor

MINUS_INFINITY = float("-inf")


def attention_mask(
    query_length: int,
    key_length: int,
    key_lengths: Tensor | None = None,
    is_causal: bool = False,
) -> Tensor:
    rows = torch.arange(query_length).unsqueeze(1)        # [L 1]
    cols = torch.arange(key_length).unsqueeze(0)          # [1 S]
    mask = (cols <= rows) if is_causal else torch.ones(query_length, key_length, dtype=torch.bool)
    mask = mask.unsqueeze(0)                              # [1 L S]
    if key_lengths is not None:
        mask = mask & (cols < key_lengths.unsqueeze(1)).unsqueeze(1)
    return mask


def _to_bias(mask: Tensor, dtype: torch.dtype) -> Tensor:
    if mask.dtype is torch.bool:
        return torch.zeros(mask.shape, dtype=dtype).masked_fill(~mask, MINUS_INFINITY)
    return mask


def masked_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    logits = query @ key.transpose(-1, -2)                # [B L S]
    logits = logits * query.shape[-1] ** -0.5
    if mask is not None:
        bias = _to_bias(mask, logits.dtype)
        if (bias == MINUS_INFINITY).all(dim=-1).any():
            raise ValueError("at least one query has no key it may attend to")
        logits = logits + bias
    attn = torch.softmax(logits, dim=-1)
    return attn @ value, attn
