"""One head after the other, each on its slice of the projections, and in each head one sample after the other."""

import torch
from single_head import softmax_of_rows
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is no multiple of n_heads={n_heads}")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def one_head(self, q, k, v, key_padding_mask, is_causal):
        outputs, weights = [], []
        for b in range(q.shape[0]):
            scores = torch.mm(q[b], k[b].t()) / self.d_head**0.5
            if is_causal:
                for i in range(q.shape[1]):
                    scores[i, i + 1 :] = float("-inf")
            if key_padding_mask is not None:
                scores[:, key_padding_mask[b]] = float("-inf")
            rows = softmax_of_rows(scores)
            outputs.append(torch.mm(rows, v[b]))
            weights.append(rows)
        return torch.stack(outputs), torch.stack(weights)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        q = self.q_proj(query)
        k = self.k_proj(key)
        v = self.v_proj(value)
        outputs, weights = [], []
        for h in range(self.n_heads):
            start, stop = h * self.d_head, (h + 1) * self.d_head
            q_h, k_h, v_h = q[:, :, start:stop], k[:, :, start:stop], v[:, :, start:stop]
            output, rows = self.one_head(q_h, k_h, v_h, key_padding_mask, is_causal)
            outputs.append(output)
            weights.append(rows)
        merged = torch.cat(outputs, dim=2)
        return self.out_proj(merged), torch.stack(weights, dim=1)
