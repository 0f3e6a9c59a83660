"""Types everywhere; the head count lives in a small frozen configuration."""

from __future__ import annotations

from dataclasses import dataclass

from masked import Mask, attention_mask
from single_head import Inputs, Result
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    d_model: int
    n_heads: int

    def __post_init__(self) -> None:
        if self.d_model % self.n_heads:
            raise ValueError(f"{self} cannot be split evenly")

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.n_heads, self.d_model // self.n_heads)).transpose(1, 2)

    def join(self, x: Tensor) -> Tensor:
        return x.transpose(1, 2).flatten(-2)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, bias: bool = True) -> None:
        super().__init__()
        self.config = Config(d_model, n_heads)
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Result:
        allowed = attention_mask(query.size(1), key.size(1), is_causal=is_causal).unsqueeze(1)
        if key_padding_mask is not None:
            allowed = allowed & ~key_padding_mask[:, None, None, :]
        split = self.config.split
        inputs = Inputs(split(self.q_proj(query)), split(self.k_proj(key)), split(self.v_proj(value)))
        result = inputs.attend(Mask(allowed).apply(inputs.scores))
        return Result(self.out_proj(self.config.join(result.output)), result.weights)
