"""The backward pass written by hand, as a torch.autograd.Function."""

import math

import torch
from torch import nn


class Attention(torch.autograd.Function):
    """Leading axes are free; `bias` is added to the scores, and gets no gradient."""

    @staticmethod
    def forward(ctx, q, k, v, bias):
        scale = 1 / math.sqrt(q.size(-1))
        p = torch.softmax(q @ k.mT * scale + bias, dim=-1)
        ctx.save_for_backward(q, k, v, p)
        return p @ v, p

    @staticmethod
    def backward(ctx, d_output, d_weights):
        q, k, v, p = ctx.saved_tensors
        scale = 1 / math.sqrt(q.size(-1))
        dv = p.mT @ d_output
        dp = d_output @ v.mT + d_weights
        ds = p * (dp - (dp * p).sum(-1, keepdim=True)) * scale
        return ds @ k, ds.mT @ q, dv, None


def scaled_dot_product_attention(query, key, value):
    return Attention.apply(query, key, value, query.new_zeros(()))


def attention_with_loops(query, key, value):
    return Attention.apply(query, key, value, query.new_zeros(()))[0]


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        return scaled_dot_product_attention(self.q_proj(query), self.k_proj(key), self.v_proj(value))
