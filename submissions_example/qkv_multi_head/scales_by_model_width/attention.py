import math

import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.n_heads = n_heads
        self.scale = 1 / math.sqrt(d_model)
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def heads(self, t):
        b, n, d = t.shape
        return t.view(b, n, self.n_heads, d // self.n_heads).transpose(1, 2)

    def forward(self, x, padding_mask=None):
        q, k, v = map(self.heads, self.qkv(x).chunk(3, dim=-1))
        dots = torch.einsum("bhid,bhjd->bhij", q, k) * self.scale
        i, j = dots.shape[-2:]
        dots = dots.masked_fill(torch.ones(i, j).triu(1).bool(), -torch.inf)
        if padding_mask is not None:
            dots = dots.masked_fill(padding_mask[:, None, None], -torch.inf)
        attn = dots.softmax(dim=-1)
        out = torch.einsum("bhij,bhjd->bihd", attn, v).flatten(2)
        return self.out(out), attn
