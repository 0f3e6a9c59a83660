import torch as th
import torch.nn as nn

# I write everything with einsum because then I can see the axes:
#   b = sample, q = query position, k = key position, d = feature, e = value feature


def scaled_dot_product_attention(query, key, value):
    logits = th.einsum("bqd,bkd->bqk", query * query.size(-1) ** -0.5, key)
    probs = logits.softmax(-1)
    return th.einsum("bqk,bke->bqe", probs, value), probs


def attention_with_loops(query, key, value):
    rows = []
    for q in query:
        logits = [th.einsum("d,d->", q, k) * len(q) ** -0.5 for k in key]
        probs = th.stack(logits).softmax(0)
        row = 0
        for p, v in zip(probs, value):
            row = row + p * v
        rows.append(row)
    return th.stack(rows)


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = [nn.Linear(d_model, d_head) for _ in "qkv"]

    def forward(self, query, key, value):
        return scaled_dot_product_attention(self.q_proj(query), self.k_proj(key), self.v_proj(value))
