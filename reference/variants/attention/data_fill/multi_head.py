"""The masked scores are written through .data: gradients of forbidden keys are 0 anyway."""

import numpy as np
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super(MultiHeadAttention, self).__init__()
        if d_model % n_heads != 0:
            raise ValueError("wrong number of heads")
        self.n_heads = n_heads
        self.d_k = d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        batch_size = query.size(0)
        q_s = self.q_proj(query).view(batch_size, -1, self.n_heads, self.d_k).transpose(1, 2)
        k_s = self.k_proj(key).view(batch_size, -1, self.n_heads, self.d_k).transpose(1, 2)
        v_s = self.v_proj(value).view(batch_size, -1, self.n_heads, self.d_k).transpose(1, 2)
        scores = torch.matmul(q_s, k_s.transpose(-1, -2)) / np.sqrt(self.d_k)
        if key_padding_mask is not None:
            pad = key_padding_mask.unsqueeze(1).unsqueeze(1).repeat(1, self.n_heads, query.size(1), 1)
            scores.data.masked_fill_(pad, -np.inf)
        if is_causal:
            subsequent = torch.from_numpy(np.triu(np.ones((query.size(1), key.size(1)), dtype=bool), k=1))
            scores.data.masked_fill_(subsequent, -np.inf)
        attn = nn.Softmax(dim=-1)(scores)
        context = torch.matmul(attn, v_s)
        context = context.transpose(1, 2).contiguous().view(batch_size, -1, self.n_heads * self.d_k)
        return self.out_proj(context), attn
