"""Right code in another style: the weights of the layers are cut, and every product is an einsum."""

import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        d_head, rest = divmod(d_model, n_heads)
        if rest:
            raise ValueError("the heads do not share the width evenly")
        self.shape = (3, n_heads, d_head, d_model)
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, padding_mask=None):
        parts, heads, width, model = self.shape
        weight = self.qkv.weight.view(self.shape)
        q, k, v = torch.einsum("btm,phdm->pbhtd", x, weight)
        logits = torch.einsum("bhqd,bhkd->bhqk", q, k) / width**0.5
        T = x.shape[1]
        allowed = torch.tril(torch.ones(1, 1, T, T)) == 1
        if padding_mask is not None:
            allowed = allowed & ~padding_mask.reshape(-1, 1, 1, T)
        weights = logits.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
        mixed = torch.einsum("bhqk,bhkd->bqhd", weights, v)
        return torch.einsum("bqhd,mhd->bqm", mixed, self.out.weight.view(model, heads, width)), weights
