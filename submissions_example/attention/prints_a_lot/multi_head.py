import torch
import torch.nn as nn
import math


class MultiHeadAttention(nn.Module):

    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model is not divisible by n_heads!")
        self.d_model = d_model
        self.n_heads = n_heads
        self.d_head = int(d_model / n_heads)
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        batch_size = query.shape[0]
        query_length = query.shape[1]
        key_length = key.shape[1]

        # projections
        projected_query = self.q_proj(query)
        projected_key = self.k_proj(key)
        projected_value = self.v_proj(value)

        # split into heads and bring the heads to the front (B, H, T, D)
        q = projected_query.reshape(batch_size, query_length, self.n_heads, self.d_head).permute(0, 2, 1, 3)
        k = projected_key.reshape(batch_size, key_length, self.n_heads, self.d_head).permute(0, 2, 1, 3)
        v = projected_value.reshape(batch_size, key_length, self.n_heads, self.d_head).permute(0, 2, 1, 3)

        # scores (B, H, L, S)
        scores = torch.matmul(q, k.permute(0, 1, 3, 2)) / math.sqrt(self.d_head)

        # padding: True = ignore this key
        if key_padding_mask is not None:
            padding = key_padding_mask.reshape(batch_size, 1, 1, key_length)
            scores = scores.masked_fill(padding, -math.inf)

        # causal
        if is_causal:
            causal = torch.ones(query_length, key_length, dtype=torch.bool)
            causal = torch.tril(causal)
            scores = scores.masked_fill(causal == False, -math.inf)

        attention_weights = torch.softmax(scores, dim=3)

        # put the heads together again
        result = torch.matmul(attention_weights, v)
        result = result.permute(0, 2, 1, 3).reshape(batch_size, query_length, self.d_model)
        result = self.out_proj(result)
        return result, attention_weights
