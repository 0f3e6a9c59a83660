import math

import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.n_heads = n_heads
        self.out = nn.Linear(d_model, d_model)
        self.qkv = nn.Linear(d_model, 3 * d_model)

    def forward(self, x, padding_mask=None):
        B, T, D = x.shape
        dh = D // self.n_heads
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.view(B, T, self.n_heads, dh).transpose(1, 2)
        k = k.view(B, T, self.n_heads, dh).transpose(1, 2)
        v = v.view(B, T, self.n_heads, dh).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(dh)
        hide = torch.ones(T, T, dtype=torch.bool).triu(1)[None, None]
        if padding_mask is not None:
            hide = hide | padding_mask[:, None, None, :]
        weights = scores.masked_fill(hide, float("-inf")).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(B, T, D)), weights
