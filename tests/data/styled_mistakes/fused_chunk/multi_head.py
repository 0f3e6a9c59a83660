"""One product for the three projections where possible, heads folded into the batch, the mask as a bias."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads has to divide d_model")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_model, d_model, bias=bias) for _ in range(3))
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def project(self, query, key, value):
        layers = [self.q_proj, self.k_proj, self.v_proj]
        if query is key and key is value:
            weight = torch.cat([layer.weight for layer in layers])
            bias = None if self.q_proj.bias is None else torch.cat([layer.bias for layer in layers])
            return F.linear(query, weight, bias).chunk(3, dim=2)
        return [layer(x) for layer, x in zip(layers, [query, key, value], strict=True)]

    def fold(self, x):
        """[B, T, H * Dh] to [B * H, T, Dh]."""
        heads = torch.stack(x.chunk(self.n_heads, dim=2), dim=1)
        return heads.flatten(0, 1)

    def unfold(self, x):
        """[B * H, T, Dh] to [B, T, H * Dh]."""
        heads = x.unflatten(0, (-1, self.n_heads))
        return torch.cat(heads.unbind(dim=1), dim=2)

    def make_bias(self, query, key, key_padding_mask, is_causal):
        """[B * H, L, S], 0 or -inf."""
        bias = query.new_zeros(query.size(0), query.size(1), key.size(1))
        if is_causal:
            future = torch.ones(query.size(1), key.size(1), dtype=torch.bool).triu(1)
            bias = bias.masked_fill(future, float("-inf"))
        if key_padding_mask is not None:
            bias = bias.masked_fill(key_padding_mask.unsqueeze(1), float("-inf"))
        return bias.repeat_interleave(self.n_heads, dim=0)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        q, k, v = self.project(query, key, value)
        q, k, v = self.fold(q), self.fold(k), self.fold(v)
        bias = self.make_bias(query, key, key_padding_mask, is_causal)
        alpha = 1 / math.sqrt(q.size(2))
        logits = torch.baddbmm(bias, q, k.mT, alpha=alpha)
        probs = F.softmax(logits, dim=2)
        mixed = self.unfold(torch.bmm(probs, v))
        return self.out_proj(mixed), probs.unflatten(0, (-1, self.n_heads))
