import math

import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, padding_mask=None):
        B, T, D = x.shape
        H, d = self.n_heads, D // self.n_heads
        q, k, v = torch.chunk(self.qkv(x), 3, dim=2)
        q = q.reshape(B, T, H, d).transpose(1, 2)
        k = k.reshape(B, T, H, d).transpose(1, 2)
        v = v.reshape(B, T, H, d).transpose(1, 2)
        attn = q @ k.transpose(2, 3) / math.sqrt(d)
        mask = torch.triu(torch.ones(T, T, dtype=torch.bool), 1)
        if padding_mask is not None:
            mask = mask | padding_mask[:, :, None, None]
        attn = attn.masked_fill(mask, float("-inf")).softmax(dim=-1)
        return self.out((attn @ v).transpose(1, 2).reshape(B, T, D)), attn
