from __future__ import annotations

import torch
import torch.nn as nn
from torch import Tensor


def _check(query: Tensor, key: Tensor, value: Tensor) -> None:
    assert query.ndim == key.ndim == value.ndim == 3, "expected three batches of sequences"
    assert query.shape[-1] == key.shape[-1], "query and key differ in size"
    assert key.shape[1] == value.shape[1], "one value per key, please"


def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    _check(query, key, value)
    logits = query @ key.transpose(-1, -2)                # [B L D] x [B D S] -> [B L S]
    logits = logits * query.shape[-1] ** -0.5
    attn = torch.softmax(logits, dim=-2)                  # [B L S]
    return attn @ value, attn                             # [B L Dv]


def attention_with_loops(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    rows: list[Tensor] = []
    for q in query:                                       # q: [D]
        logits = torch.stack([(q * k).sum() for k in key])
        attn = torch.softmax(logits * q.shape[0] ** -0.5, dim=0)
        rows.append((attn[:, None] * value).sum(dim=0))   # [Dv]
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
