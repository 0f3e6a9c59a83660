import torch
import torch.nn as nn

# einsum axes:
#   b = sample, q = query position, k = key position, d = feature, e = value feature


def scaled_dot_product_attention(query, key, value):
    scores = torch.einsum("bqd,bkd->bqk", query * query.size(-1) ** -0.5, key)
    probs = scores.softmax(-1).detach()   # weights are not trained, only q, k, v are
    return torch.einsum("bqk,bke->bqe", probs, value), probs


def attention_with_loops(query, key, value):
    rows = []
    for q in query:
        scores = [torch.einsum("d,d->", q, k) * len(q) ** -0.5 for k in key]
        probs = torch.stack(scores).softmax(0)
        row = 0
        for p, v in zip(probs, value):
            row = row + p * v
        rows.append(row)
    return torch.stack(rows)


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = [nn.Linear(d_model, d_head) for _ in "qkv"]

    def forward(self, query, key, value):
        return scaled_dot_product_attention(self.q_proj(query), self.k_proj(key), self.v_proj(value))
