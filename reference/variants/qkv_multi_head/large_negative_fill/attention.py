"""Right code in another style: a large negative number instead of minus infinity; every row has a key that is real."""

import torch
from torch import Tensor, nn

HIDDEN = -1e9


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        if n_heads <= 0 or d_model % n_heads:
            raise ValueError("d_model has to be divisible by n_heads")
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x: Tensor, padding_mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        batch, length, width = x.shape
        query, key, value = (
            part.unflatten(-1, (self.n_heads, -1)).movedim(2, 1) for part in self.qkv(x).tensor_split(3, dim=-1)
        )
        scores = query.matmul(key.transpose(-1, -2)).div((width // self.n_heads) ** 0.5)
        future = torch.ones(length, length).triu(1).to(torch.bool)
        scores = scores.masked_fill(future, HIDDEN)
        if padding_mask is not None:
            padded = padding_mask.unsqueeze(1).unsqueeze(2).expand(batch, self.n_heads, length, length)
            scores = scores.masked_fill(padded, HIDDEN)
        weights = scores.softmax(-1)
        return self.out(weights.matmul(value).movedim(1, 2).reshape(batch, length, width)), weights
