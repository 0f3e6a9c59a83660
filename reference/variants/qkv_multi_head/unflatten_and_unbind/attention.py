"""Right code in another style: one unflatten, one permute, one unbind; torch.where instead of a fill."""

import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model} % {n_heads} != 0")
        self.h, self.d = n_heads, d_model // n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, padding_mask=None):
        parts = self.qkv(x).unflatten(-1, (3, self.h, self.d)).permute(2, 0, 3, 1, 4)
        q, k, v = parts.unbind(0)
        position = torch.arange(x.size(1))
        keep = position[:, None] >= position[None, :]
        if padding_mask is not None:
            keep = torch.logical_and(keep, padding_mask.logical_not()[:, None, None])
        scores = (q * self.d**-0.5) @ k.mT
        scores = torch.where(keep, scores, torch.tensor(-torch.inf, dtype=scores.dtype))
        weights = scores.softmax(-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2)), weights
