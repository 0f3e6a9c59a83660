import math

import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model % n_heads != 0")
        self.h = n_heads
        self.d_k = d_model // n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, padding_mask=None):
        b, t, d = x.size()
        q, k, v = self.qkv(x).split(d, dim=-1)
        q, k, v = [z.view(b, t, self.h, self.d_k).transpose(1, 2) for z in (q, k, v)]
        logits = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.d_k)
        causal = torch.tril(torch.ones(t, t)).bool()
        logits = logits.masked_fill(~causal, -1e9)
        if padding_mask is not None:
            # [B, T] -> [B, 1, T, 1], broadcasts over the heads
            pad = padding_mask.unsqueeze(1).unsqueeze(-1)
            logits = logits.masked_fill(pad, -1e9)
        p = torch.softmax(logits, dim=-1)
        ctx = torch.matmul(p, v).transpose(1, 2).reshape(b, t, d)
        return self.out(ctx), p
