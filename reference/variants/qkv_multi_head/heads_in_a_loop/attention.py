"""Right code in another style: a loop over the heads, whose outputs are put side by side."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("not divisible")
        self.d_model, self.n_heads, self.d_head = d_model, n_heads, d_model // n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, padding_mask=None):
        qkv = self.qkv(x)
        q, k, v = torch.split(qkv, self.d_model, dim=2)
        T = x.size(1)
        outputs, all_weights = [], []
        for h in range(self.n_heads):
            part = slice(h * self.d_head, (h + 1) * self.d_head)
            scores = torch.bmm(q[:, :, part], k[:, :, part].transpose(1, 2)) / math.sqrt(self.d_head)
            scores = scores.masked_fill(torch.triu(torch.ones(T, T), diagonal=1).bool(), float("-inf"))
            if padding_mask is not None:
                scores = scores.masked_fill(padding_mask.unsqueeze(1), float("-inf"))
            weights = F.softmax(scores, dim=-1)
            outputs.append(torch.bmm(weights, v[:, :, part]))
            all_weights.append(weights)
        return self.out(torch.cat(outputs, dim=-1)), torch.stack(all_weights, dim=1)
