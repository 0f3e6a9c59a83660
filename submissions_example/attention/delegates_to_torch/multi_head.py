"""Homework 3, part 3: multi-head attention."""

from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.attention = nn.MultiheadAttention(d_model, n_heads, bias=bias, batch_first=True)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        return self.attention(query, key, value, key_padding_mask, average_attn_weights=False)
