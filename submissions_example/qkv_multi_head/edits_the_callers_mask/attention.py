import math

import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, padding_mask=None):
        B, T, D = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.n_heads, self.d_head).permute(2, 0, 3, 1, 4)
        att = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        keep = torch.tril(torch.ones(T, T, dtype=torch.bool))
        if padding_mask is not None:
            keep = keep & padding_mask.logical_not_()[:, None, None, :]
        att = att.masked_fill(~keep, float("-inf")).softmax(-1)
        return self.out((att @ v).transpose(1, 2).reshape(B, T, D)), att
