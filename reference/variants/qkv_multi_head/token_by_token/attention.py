"""Right code in another style: loops over samples and tokens, where hidden keys are never looked at."""

import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model is not divisible by n_heads")
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, padding_mask=None):
        B, T, D = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.n_heads, self.d_head).unbind(2)
        output = x.new_zeros(B, T, D)
        weights = x.new_zeros(B, self.n_heads, T, T)
        for b in range(B):
            for i in range(T):
                seen = torch.arange(i + 1)
                if padding_mask is not None:
                    seen = seen[~padding_mask[b, : i + 1]]
                scores = (k[b, seen] * q[b, i]).sum(-1) / self.d_head**0.5
                shares = torch.softmax(scores, dim=0)
                weights[b, :, i, seen] = shares.T
                output[b, i] = (shares[..., None] * v[b, seen]).sum(0).flatten()
        return self.out(output), weights
