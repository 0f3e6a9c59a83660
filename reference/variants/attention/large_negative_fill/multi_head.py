"""The style of many tutorials: `attention` from the first file, a list of layers, a fill of -1e9."""

import torch
import torch.nn as nn
from masked import subsequent_mask
from single_head import attention


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model % h must be 0")
        self.d_k = d_model // n_heads
        self.h = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias)
        self.k_proj = nn.Linear(d_model, d_model, bias)
        self.v_proj = nn.Linear(d_model, d_model, bias)
        self.out_proj = nn.Linear(d_model, d_model, bias)
        self.attn = None

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        nbatches = query.size(0)
        mask = torch.ones(1, query.size(1), key.size(1), dtype=torch.bool)
        if is_causal:
            mask = subsequent_mask(query.size(1), key.size(1))
        if key_padding_mask is not None:
            mask = mask & (key_padding_mask == 0).unsqueeze(-2)
        mask = mask.unsqueeze(1)
        query, key, value = [
            lin(x).view(nbatches, -1, self.h, self.d_k).transpose(1, 2)
            for lin, x in zip((self.q_proj, self.k_proj, self.v_proj), (query, key, value), strict=True)
        ]
        x, self.attn = attention(query, key, value, mask=mask)
        x = x.transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k)
        return self.out_proj(x), self.attn
