"""A softmax written by hand, over the allowed keys only, for every head."""

import torch
from masked import attention_mask, masked_softmax
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("please choose n_heads so that it divides d_model")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        key_lengths = None
        allowed = attention_mask(query.shape[1], key.shape[1], key_lengths, is_causal)
        if key_padding_mask is not None:
            allowed = allowed & torch.logical_not(key_padding_mask).unsqueeze(1)
        allowed = allowed.expand(query.shape[0], -1, -1).unsqueeze(1)
        q, k, v = (
            torch.stack(torch.tensor_split(x, self.n_heads, dim=2), dim=1)
            for x in (self.q_proj(query), self.k_proj(key), self.v_proj(value))
        )
        scores = torch.matmul(q, torch.transpose(k, 2, 3)) / q.shape[3] ** 0.5
        weights = masked_softmax(scores, allowed)
        heads = torch.matmul(weights, v)
        return self.out_proj(torch.cat(torch.unbind(heads, dim=1), dim=2)), weights
