"""Everything as einsum, the output of which is sometimes left implicit."""

import torch
from torch import einsum, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not share {d_model} elements evenly")
        self.n_heads = n_heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            self.add_module(name, nn.Linear(d_model, d_model, bias))

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        q, k, v = (
            layer(x).unflatten(-1, (self.n_heads, -1))
            for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = einsum("blhd,bshd->bhls", q, k) / q.shape[-1] ** 0.5
        if is_causal:
            future = torch.ones(q.shape[1], k.shape[1]).triu(1) > 0
            scores = scores.masked_fill(future, -torch.inf)
        if key_padding_mask is not None:
            scores = scores.masked_fill(key_padding_mask[:, None, None], -torch.inf)
        weights = scores.softmax(-1)
        return self.out_proj(einsum("bhls,bshd->blhd", weights, v).flatten(2)), weights
