"""Right code in another style: the softmax is computed in single precision, as in mixed-precision training."""

import math

import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model}, n_heads={n_heads}")
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, padding_mask=None):
        bsz, seq_len, dim = x.shape
        xqkv = self.qkv(x).view(bsz, seq_len, 3, self.n_heads, dim // self.n_heads)
        xq, xk, xv = (t.squeeze(2).transpose(1, 2) for t in xqkv.split(1, dim=2))
        scores = torch.matmul(xq, xk.transpose(2, 3)) / math.sqrt(dim // self.n_heads)
        mask = torch.full((seq_len, seq_len), torch.finfo(x.dtype).min, dtype=x.dtype)
        mask = torch.triu(mask, diagonal=1)[None, None]
        if padding_mask is not None:
            mask = mask.masked_fill(padding_mask[:, None, None, :], torch.finfo(x.dtype).min)
        scores = torch.where(mask < 0, mask, scores)
        probs = torch.softmax(scores.float(), dim=-1).type_as(xq)
        out = torch.matmul(probs, xv).transpose(1, 2).reshape(bsz, seq_len, dim)
        return self.out(out), probs
