"""Time first, and heads folded into the batch, as in early sequence models: [T, B * H, D]."""

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        if self.n_heads * self.d_head != d_model:
            raise ValueError("d_model must be divisible by n_heads")
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def fold(self, x):
        x = x.transpose(0, 1).contiguous()
        return x.view(x.size(0), x.size(1) * self.n_heads, self.d_head)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        batch = query.size(0)
        q, k, v = self.fold(self.q_proj(query)), self.fold(self.k_proj(key)), self.fold(self.v_proj(value))
        scores = torch.einsum("lnd,snd->lsn", q, k) / self.d_head**0.5
        if is_causal:
            future = torch.ones(q.size(0), k.size(0), dtype=torch.bool).triu(1)
            scores = scores.masked_fill(future.unsqueeze(-1), float("-inf"))
        if key_padding_mask is not None:
            padding = key_padding_mask.t().repeat_interleave(self.n_heads, dim=1)
            scores = scores.masked_fill(padding, float("-inf"))
        weights = torch.softmax(scores, dim=1)
        output = torch.einsum("lsn,snd->lnd", weights, v).reshape(q.size(0), batch, -1)
        weights = weights.unflatten(2, (batch, self.n_heads)).permute(2, 3, 0, 1)
        return self.out_proj(output).transpose(0, 1), weights
