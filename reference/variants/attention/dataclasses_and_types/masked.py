"""Types everywhere: a class for the mask, which knows how to apply itself."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from single_head import Inputs, Result
from torch import Tensor


@dataclass(frozen=True)
class Mask:
    allowed: Tensor
    bias: Tensor | None = None

    @classmethod
    def of(cls, mask: Tensor) -> Mask:
        if mask.dtype == torch.bool:
            return cls(allowed=mask)
        return cls(allowed=mask > -math.inf, bias=mask)

    def __post_init__(self) -> None:
        if not bool(self.allowed.any(dim=-1).all()):
            raise ValueError("a query may attend to nothing")

    def apply(self, scores: Tensor) -> Tensor:
        if self.bias is not None:
            return scores + self.bias
        return scores.masked_fill(self.allowed.logical_not(), -math.inf)


def attention_mask(
    query_length: int, key_length: int, key_lengths: Tensor | None = None, is_causal: bool = False
) -> Tensor:
    mask = torch.ones((1, query_length, key_length), dtype=torch.bool)
    if is_causal:
        mask = mask.tril()
    if key_lengths is not None:
        mask = mask.logical_and(torch.arange(key_length).lt(key_lengths.view(-1, 1)).unsqueeze(1))
    return mask


def masked_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Result:
    inputs = Inputs(query, key, value)
    return inputs.attend() if mask is None else inputs.attend(Mask.of(mask).apply(inputs.scores))
