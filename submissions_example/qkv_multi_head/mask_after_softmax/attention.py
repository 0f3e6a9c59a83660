import math

import torch
from torch import nn
import torch.nn.functional as F


class MultiHeadSelfAttention(nn.Module):

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model} is not divisible by {n_heads}")
        self.d_model = d_model
        self.n_heads = n_heads
        self.head_dim = d_model // n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, padding_mask=None):
        bs, seq, _ = x.shape
        q, k, v = self.qkv(x).chunk(3, -1)
        q = q.view(bs, seq, self.n_heads, self.head_dim).permute(0, 2, 1, 3)
        k = k.view(bs, seq, self.n_heads, self.head_dim).permute(0, 2, 1, 3)
        v = v.view(bs, seq, self.n_heads, self.head_dim).permute(0, 2, 1, 3)

        weights = F.softmax(q @ k.permute(0, 1, 3, 2) / math.sqrt(self.head_dim), dim=-1)
        keep = torch.tril(torch.ones(seq, seq, dtype=x.dtype))
        weights = weights * keep
        if padding_mask is not None:
            weights = weights.masked_fill(padding_mask[:, None, None, :], 0.0)
        out = (weights @ v).permute(0, 2, 1, 3).reshape(bs, seq, self.d_model)
        return self.out(out), weights
