import math

import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.num_heads = n_heads
        self.head_dim = d_model // n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, padding_mask=None):
        batch, length, width = x.size()
        qkv = self.qkv(x)
        qkv = qkv.reshape(batch, length, self.num_heads, 3 * self.head_dim)
        qkv = qkv.permute(0, 2, 1, 3)  # [batch, head, length, 3 * head_dim]
        q, k, v = qkv.chunk(3, dim=-1)
        scaled = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head_dim)
        mask = torch.full((length, length), float("-inf"), dtype=x.dtype)
        scaled = scaled + torch.triu(mask, diagonal=1)
        if padding_mask is not None:
            scaled = scaled.masked_fill(padding_mask[:, None, None, :], float("-inf"))
        attention = torch.softmax(scaled, dim=-1)
        values = torch.matmul(attention, v).permute(0, 2, 1, 3).reshape(batch, length, width)
        return self.out(values), attention
