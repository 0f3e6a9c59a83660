"""Right answers in another style: with a product of matrices that counts, and sets."""

import torch


def flops(*products):
    return sum(2 * m * k * n * times for m, k, n, times in products)


def cross_attention_shapes(batch, queries, keys, dim, value_dim):
    def product(left, right):
        return (*left[:-1], right[-1])

    query, transposed, value = (batch, queries, dim), (batch, dim, keys), (batch, keys, value_dim)
    scores = product(query, transposed)
    return transposed, scores, product(scores, value)


def scores_memory(batch, tokens, dim, heads, element_bytes):
    pairs = tokens * tokens
    return (batch * heads * pairs) * element_bytes


def attention_flops(batch, tokens, dim, heads):
    width = dim // heads
    return flops(
        (tokens, dim, dim, 4 * batch),
        (tokens, width, tokens, heads * batch),
        (tokens, tokens, width, heads * batch),
    )


def feed_forward_flops(batch, tokens, dim, heads):
    return flops((tokens, dim, 4 * dim, batch), (tokens, 4 * dim, dim, batch))


def dominant_part(batch, tokens, dim, heads):
    return "attention" if tokens / dim > 2 else "feed-forward"


def attention_dominates_from(dim):
    return next(tokens for tokens in range(dim, 4 * dim) if dominant_part(1, tokens, dim, 1) == "attention")


def reorder_tokens(output, weights, order):
    return torch.index_select(output, 1, order), weights[:, order][..., order]


def reorder_source(output, weights, order):
    return output + 0, weights[..., order]


def reorder_mask(allowed, order):
    pairs = {(i, j) for i, j in allowed.nonzero().tolist()}
    rows = [[(i, j) in pairs for j in order.tolist()] for i in order.tolist()]
    return torch.tensor(rows)


def survives_reordering(allowed, order):
    old = {(i, j) for i, j in allowed.nonzero().tolist()}
    new = {(i, j) for i, j in reorder_mask(allowed, order).nonzero().tolist()}
    return old == new
