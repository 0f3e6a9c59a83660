"""The softmax in float32, as in mixed precision; everything else in the dtype of the inputs."""

import math

import torch
from torch import nn
from torch.nn.functional import softmax


def scaled_dot_product_attention(query, key, value):
    scores = query @ key.transpose(1, 2) / math.sqrt(query.size(-1))
    weights = softmax(scores, dim=-1, dtype=torch.float32).type_as(query)
    return weights @ value, weights


def attention_with_loops(query, key, value):
    output = torch.zeros_like(query[:, :1]).repeat(1, value.size(1))
    for i in range(len(query)):
        scores = torch.zeros_like(key[:, 0])
        for j in range(len(key)):
            scores[j] = torch.dot(query[i], key[j]) / math.sqrt(query.size(-1))
        output[i] = softmax(scores, dim=0, dtype=torch.float32).type_as(query) @ value
    return output


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        return scaled_dot_product_attention(self.q_proj(query), self.k_proj(key), self.v_proj(value))
