"""Every product is an einsum, with the heads on an axis of their own: b batch, h head, i query, j key, c channel."""

import torch
from torch import einsum, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads cannot share {d_model} channels")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias)
        self.k_proj = nn.Linear(d_model, d_model, bias)
        self.v_proj = nn.Linear(d_model, d_model, bias)
        self.out_proj = nn.Linear(d_model, d_model, bias)

    def to_heads(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).permute(0, 2, 1, 3)

    def from_heads(self, x):
        return x.permute(0, 2, 1, 3).flatten(-2)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        asked = self.to_heads(self.q_proj(query))
        offered = self.to_heads(self.k_proj(key))
        content = self.to_heads(self.v_proj(value))
        temperature = asked.size(-1) ** 0.5
        affinity = einsum("bhic,bhjc->bhij", asked, offered) / temperature
        if is_causal:
            i = torch.arange(query.size(1))[:, None]
            j = torch.arange(key.size(1))[None, :]
            affinity = torch.where(j > i, -torch.inf, affinity)
        if key_padding_mask is not None:
            affinity = torch.where(key_padding_mask[:, None, None, :], -torch.inf, affinity)
        attn = affinity.softmax(dim=-1)
        context = einsum("bhij,bhjc->bhic", attn, content)
        return self.out_proj(self.from_heads(context)), attn
