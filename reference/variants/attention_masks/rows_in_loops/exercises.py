"""Right answers in another style: element by element, and words with capitals."""

import torch


def cross_attention_shapes(batch, queries, keys, dim, value_dim):
    shapes = {"key": (batch, keys, dim), "scores": (batch, queries, keys), "output": (batch, queries, value_dim)}
    b, s, d = shapes["key"]
    return (b, d, s), shapes["scores"], shapes["output"]


def scores_memory(batch, tokens, dim, heads, element_bytes):
    return sum(tokens * tokens * element_bytes for _ in range(batch * heads))


def attention_flops(batch, tokens, dim, heads):
    multiply_adds = 0
    for _ in ("query", "key", "value", "output"):
        multiply_adds += tokens * dim * dim
    for _ in range(heads):
        multiply_adds += tokens * tokens * (dim // heads) * 2
    return 2 * multiply_adds * batch


def feed_forward_flops(batch, tokens, dim, heads):
    weights = dim * 4 * dim + 4 * dim * dim
    return 2 * weights * tokens * batch


def dominant_part(batch, tokens, dim, heads):
    if attention_flops(batch, tokens, dim, heads) > feed_forward_flops(batch, tokens, dim, heads):
        return "ATTENTION"
    return "feed forward"


def attention_dominates_from(dim):
    return 1 + dim + dim


def reorder_tokens(output, weights, order):
    new_output, new_weights = torch.empty_like(output), torch.empty_like(weights)
    for i in range(len(order)):
        new_output[:, i] = output[:, order[i]]
        for j in range(len(order)):
            new_weights[:, i, j] = weights[:, order[i], order[j]]
    return new_output, new_weights


def reorder_source(output, weights, order):
    columns = [weights[:, :, int(j)] for j in order]
    return output, torch.stack(columns, dim=2)


def reorder_mask(allowed, order):
    return allowed[order].T[order].T


def survives_reordering(allowed, order):
    return reorder_mask(allowed, order).tolist() == allowed.tolist()
