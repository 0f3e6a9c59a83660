"""Types everywhere: a NamedTuple as result, dataclasses for what belongs together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Result(NamedTuple):
    output: Tensor
    weights: Tensor


@dataclass(frozen=True)
class Inputs:
    query: Tensor
    key: Tensor
    value: Tensor

    @property
    def scores(self) -> Tensor:
        return self.query @ self.key.mT / torch.tensor(self.query.size(-1), dtype=self.query.dtype).sqrt()

    def attend(self, scores: Tensor | None = None) -> Result:
        weights = (self.scores if scores is None else scores).softmax(dim=-1)
        return Result(output=weights @ self.value, weights=weights)


def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor) -> Result:
    return Inputs(query, key, value).attend()


def attention_with_loops(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    output: list[Tensor] = []
    for i in range(query.size(0)):
        scores: list[Tensor] = []
        for j in range(key.size(0)):
            scores.append(Inputs(query[i : i + 1], key[j : j + 1], value[j : j + 1]).scores)
        output.append(torch.cat(scores, dim=1).softmax(dim=1) @ value)
    return torch.cat(output)


class SingleHeadAttention(nn.Module):
    q_proj: nn.Linear
    k_proj: nn.Linear
    v_proj: nn.Linear

    def __init__(self, d_model: int, d_head: int) -> None:
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> Result:
        return Inputs(self.q_proj(query), self.k_proj(key), self.v_proj(value)).attend()
