import torch


def cross_attention_shapes(batch, queries, keys, dim, value_dim):
    # Q [B, L, D] @ K^T [B, D, S] -> [B, L, S];  W [B, L, S] @ V [B, S, Dv] -> [B, L, Dv]
    return (batch, dim, keys), (batch, queries, keys), (batch, queries, value_dim)


def scores_memory(batch, tokens, dim, heads, element_bytes):
    return batch * heads * tokens * tokens * element_bytes


def attention_flops(batch, tokens, dim, heads):
    projections = 4 * 2 * batch * tokens * dim * dim
    scores = 2 * batch * tokens * tokens * dim
    weighted_sum = 2 * batch * tokens * tokens * dim
    return projections + scores + weighted_sum


def feed_forward_flops(batch, tokens, dim, heads):
    up = 2 * batch * tokens * dim * (4 * dim)
    down = 2 * batch * tokens * (4 * dim) * dim
    return up + down


def dominant_part(batch, tokens, dim, heads):
    if attention_flops(batch, tokens, dim, heads) > feed_forward_flops(batch, tokens, dim, heads):
        return "attention"
    return "feed-forward"


def attention_dominates_from(dim):
    # 8 D^2 + 4 T D > 16 D^2  <=>  T > 2 D
    return 2 * dim + 1


def reorder_tokens(output, weights, order):
    return output[:, order], weights[:, order][:, :, order]


def reorder_source(output, weights, order):
    return output, weights[:, :, order]


def reorder_mask(allowed, order):
    return allowed[order][:, order]


def survives_reordering(allowed, order):
    return torch.equal(reorder_mask(allowed, order), allowed)
