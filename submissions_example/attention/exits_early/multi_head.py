import math

import torch
from torch import nn


def stable_softmax(x):
    x = x - x.max(dim=-1, keepdim=True)[0]
    exps = torch.exp(x)
    return exps / exps.sum(dim=-1, keepdim=True)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("cannot divide d_model by n_heads")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        q = torch.stack(self.q_proj(query).chunk(self.n_heads, dim=-1), dim=1)
        k = torch.stack(self.k_proj(key).chunk(self.n_heads, dim=-1), dim=1)
        v = torch.stack(self.v_proj(value).chunk(self.n_heads, dim=-1), dim=1)

        scores = q @ k.permute(0, 1, 3, 2) / math.sqrt(q.shape[-1])
        if is_causal:
            for i in range(scores.shape[2]):
                scores[:, :, i, i + 1:] = -math.inf
        if key_padding_mask is not None:
            scores = scores.masked_fill(key_padding_mask.unsqueeze(1).unsqueeze(1), -math.inf)
        a = stable_softmax(scores)

        heads = a @ v
        out = torch.cat([heads[:, h] for h in range(self.n_heads)], dim=-1)
        return self.out_proj(out), a
