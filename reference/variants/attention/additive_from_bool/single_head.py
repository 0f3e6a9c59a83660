"""Attention as the masked one with a mask of zeros."""

from masked import masked_attention
from torch import nn


def scaled_dot_product_attention(query, key, value):
    return masked_attention(query, key, value, mask=query.new_zeros(()))


def attention_with_loops(query, key, value):
    output = query.new_zeros((query.shape[0], value.shape[1]))
    for i in range(query.shape[0]):
        logits = query.new_zeros((key.shape[0],))
        for j in range(key.shape[0]):
            logits[j] = query[i].dot(key[j]).div(query.shape[1] ** 0.5)
        probabilities = logits.sub(logits.max()).exp()
        total = probabilities.sum()
        for j in range(key.shape[0]):
            output[i] = output[i] + probabilities[j] / total * value[j]
    return output


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        return masked_attention(self.q_proj(query), self.k_proj(key), self.v_proj(value))
