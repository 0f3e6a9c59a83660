import torch
import torch.nn as nn
import math


def scaled_dot_product_attention(query, key, value):
    # dimension of the queries
    d_k = query.shape[2]
    # transpose the keys so that the matrices fit
    keyT = key.transpose(1, 2)
    # scores, shape is (B, L, S)
    scores = torch.bmm(query, keyT)
    print("scores", scores.shape)
    # scale
    scores = scores / math.sqrt(d_k)
    # softmax over the keys
    attention_weights = torch.softmax(scores, dim=2)
    # multiply with the values
    result = torch.bmm(attention_weights, value)
    print(result)
    return result, attention_weights


def attention_with_loops(query, key, value):
    number_of_queries = query.shape[0]
    number_of_keys = key.shape[0]
    d_k = query.shape[1]
    result = torch.zeros(number_of_queries, value.shape[1], dtype=query.dtype)
    for i in range(0, number_of_queries):
        scores = torch.zeros(number_of_keys, dtype=query.dtype)
        for j in range(0, number_of_keys):
            product = query[i] * key[j]
            scores[j] = torch.sum(product) / math.sqrt(d_k)
            # DEBUG
            print('=' * 50000)
            print('query', i, 'key', j, 'product', product.tolist() * 200)
            print('scores so far', scores.tolist() * 200)
        attention_weights = torch.softmax(scores, dim=0)
        summe = torch.zeros(value.shape[1], dtype=query.dtype)
        for j in range(0, number_of_keys):
            summe = summe + attention_weights[j] * value[j]
        result[i] = summe
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
        projected_query = self.q_proj(query)
        projected_key = self.k_proj(key)
        projected_value = self.v_proj(value)
        result, attention_weights = scaled_dot_product_attention(projected_query, projected_key, projected_value)
        return result, attention_weights
