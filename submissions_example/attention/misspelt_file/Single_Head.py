from __future__ import annotations

import torch
import torch.nn as nn
from torch import Tensor


def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-1, -2)
    scores = scores * query.shape[-1] ** -0.5
    probs = torch.softmax(scores, dim=-1)
    return probs @ value, probs


def attention_with_loops(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    rows: list[Tensor] = []
    for q in query:                                       # q: [D]
        scores = torch.stack([(q * k).sum() for k in key])
        probs = torch.softmax(scores * q.shape[0] ** -0.5, dim=0)
        rows.append((probs[:, None] * value).sum(dim=0))
    return torch.stack(rows)


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model: int, d_head: int) -> None:
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_head, bias=True)
        self.k_proj = nn.Linear(d_model, d_head, bias=True)
        self.v_proj = nn.Linear(d_model, d_head, bias=True)

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        return scaled_dot_product_attention(
            self.q_proj(query), self.k_proj(key), self.v_proj(value)
        )
