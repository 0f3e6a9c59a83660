"""Everything as einsum."""

from torch import einsum, nn


def scaled_dot_product_attention(query, key, value):
    scores = einsum("bld,bsd->bls", query, key) * query.shape[-1] ** -0.5
    weights = scores.softmax(-1)
    return einsum("bls,bsv->blv", weights, value), weights


def attention_with_loops(query, key, value):
    result = query.new_empty(len(query), value.shape[-1])
    for index, one in enumerate(query):
        scores = query.new_empty(len(key))
        for position, other in enumerate(key):
            scores[position] = einsum("d,d", one, other) * query.shape[-1] ** -0.5
        result[index] = einsum("s,sv", scores.softmax(0), value)
    return result


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_model, d_head) for _ in range(3))

    def forward(self, query, key, value):
        return scaled_dot_product_attention(self.q_proj(query), self.k_proj(key), self.v_proj(value))
