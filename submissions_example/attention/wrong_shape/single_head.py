import torch
import torch.nn as nn
import math


def scaled_dot_product_attention(query, key, value):
    # (1) dimension of the queries
    dim = query.shape[2]
    # (2) transpose the keys so that the matrices fit
    key_transposed = key.transpose(1, 2)
    # (3) scores, shape is (B, L, S)
    scores = torch.bmm(query, key_transposed)
    # (4) scale
    scores = scores / math.sqrt(dim)
    # (5) softmax over the keys
    attention_weights = torch.softmax(scores, dim=2)
    # (6) multiply with the values
    result = torch.bmm(attention_weights, value)
    return result, attention_weights


def attention_with_loops(query, key, value):
    number_of_queries = query.shape[0]
    number_of_keys = key.shape[0]
    dim = query.shape[1]
    result = torch.zeros(number_of_queries, value.shape[1], dtype=query.dtype)
    for i in range(0, number_of_queries):
        scores = torch.zeros(number_of_keys, dtype=query.dtype)
        for j in range(0, number_of_keys):
            product = query[i] * key[j]
            scores[j] = torch.sum(product) / math.sqrt(dim)
        attention_weights = torch.softmax(scores, dim=0)
        weighted_sum = torch.zeros(value.shape[1], dtype=query.dtype)
        for j in range(0, number_of_keys):
            weighted_sum = weighted_sum + attention_weights[j] * value[j]
        result[i] = weighted_sum
    return result


class SingleHeadAttention(nn.Module):

    def __init__(self, d_model, d_head):
        super().__init__()
        self.d_model = d_model
        self.d_head = d_head
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        Q = self.q_proj(query)
        K = self.k_proj(key)
        V = self.v_proj(value)
        result, attention_weights = scaled_dot_product_attention(Q, K, V)
        return result, attention_weights
