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
        q, k, v = self.qkv(x).split(D, -1)
        outs, maps = [], []
        for h in range(self.n_heads):
            s = slice(h * self.d_head, (h + 1) * self.d_head)
            score = q[..., s] @ k[..., s].transpose(1, 2) / math.sqrt(self.d_head)
            score = score.masked_fill(torch.triu(torch.ones(T, T), 1) == 1, float("-inf"))
            if padding_mask is not None:
                score = score.masked_fill(padding_mask[:, None], float("-inf"))
            w = score.softmax(-1)
            outs.append(w @ v[..., s])
            maps.append(w)
        # like nn.MultiheadAttention, which averages over the heads
        return self.out(torch.cat(outs, -1)), torch.stack(maps, 1).mean(1)
