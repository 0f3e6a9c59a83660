# Attention homework, multi head

import math
import torch
import torch.nn as nn
import torch.nn.functional as F


def attend(query, key, value, mask=None):
    d = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    probs = F.softmax(scores, dim=-1)
    return torch.matmul(probs, value), probs


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super(MultiHeadAttention, self).__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model % n_heads != 0")
        # We assume d_v always equals d
        self.d = d_model // n_heads
        self.h = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        bs = query.size(0)

        mask = torch.ones(1, 1, query.size(1), key.size(1)) == 1
        if is_causal:
            mask = mask & (torch.triu(torch.ones(query.size(1), key.size(1)), diagonal=1) == 0)
        if key_padding_mask is not None:
            mask = mask & (key_padding_mask == 0).unsqueeze(1).unsqueeze(1)

        # Do all the linear projections in batch from d_model => h x d
        q = self.q_proj(query).view(bs, -1, self.h, self.d).transpose(1, 2)
        k = self.k_proj(key).view(bs, -1, self.h, self.d).transpose(1, 2)
        v = self.v_proj(value).view(bs, -1, self.h, self.d).transpose(1, 2)

        # Apply attention on all the projected vectors in batch.
        x, attn = attend(q, k, v, mask=mask)

        # "Concat" using a view and apply a final linear.
        x = x.transpose(1, 2).contiguous().view(bs, -1, self.h * self.d)
        return self.out_proj(x), attn
