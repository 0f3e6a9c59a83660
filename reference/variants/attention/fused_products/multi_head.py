"""addmm for the projections, baddbmm for the scores, sample-major folding of the heads."""

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads does not divide d_model")
        self.n_heads = n_heads
        self.layers = ["q_proj", "k_proj", "v_proj"]
        for name in [*self.layers, "out_proj"]:
            self.register_module(name, nn.Linear(d_model, d_model, bias=bias))

    def project(self, name, x):
        layer, flat = getattr(self, name), x.reshape(-1, x.size(-1))
        if layer.bias is None:
            return (flat @ layer.weight.t()).view_as(x)
        return torch.addmm(layer.bias, flat, layer.weight.t()).view_as(x)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        batch, n_queries, n_keys = query.size(0), query.size(1), key.size(1)
        folded = []
        for name, x in zip(self.layers, (query, key, value), strict=True):
            x = self.project(name, x).unflatten(2, (self.n_heads, -1))
            folded.append(x.swapaxes(1, 2).flatten(0, 1))
        q, k, v = folded
        bias = torch.zeros(batch, self.n_heads, n_queries, n_keys, dtype=query.dtype)
        if key_padding_mask is not None:
            bias.masked_fill_(key_padding_mask[:, None, None, :], -torch.inf)
        if is_causal:
            bias.masked_fill_(torch.ones(n_queries, n_keys).triu(1) == 1, -torch.inf)
        scores = torch.baddbmm(bias.flatten(0, 1), q, k.transpose(1, 2), alpha=q.size(2) ** -0.5)
        weights = torch.nn.functional.softmax(scores, dim=2)
        heads = torch.bmm(weights, v).unflatten(0, (batch, self.n_heads))
        return self.project("out_proj", heads.swapaxes(1, 2).flatten(2)), weights.unflatten(0, (batch, -1))
