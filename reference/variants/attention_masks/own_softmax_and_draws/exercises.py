"""Right answers in another style: products counted one by one, lists for shapes, floats for counts."""

import torch


def matmul(m, k, n):
    return 2.0 * m * k * n


def cross_attention_shapes(batch, queries, keys, dim, value_dim):
    return [[batch, dim, keys], [batch, queries, keys], [batch, queries, value_dim]]


def scores_memory(batch, tokens, dim, heads, element_bytes):
    return float(batch) * heads * tokens * tokens * element_bytes


def attention_flops(batch, tokens, dim, heads):
    total = 0.0
    for _ in range(4):
        total += matmul(tokens, dim, dim)
    for _ in range(heads):
        total += matmul(tokens, dim // heads, tokens)
        total += matmul(tokens, tokens, dim // heads)
    return batch * total


def feed_forward_flops(batch, tokens, dim, heads):
    return batch * (matmul(tokens, dim, 4 * dim) + matmul(tokens, 4 * dim, dim))


def dominant_part(batch, tokens, dim, heads):
    attention, ffn = attention_flops(batch, tokens, dim, heads), feed_forward_flops(batch, tokens, dim, heads)
    return "Feed Forward" if ffn >= attention else "Attention"


def attention_dominates_from(dim):
    tokens = 1
    while dominant_part(1, tokens, dim, 1) != "Attention":
        tokens *= 2
    low, high = tokens // 2, tokens
    while high - low > 1:
        middle = (low + high) // 2
        if dominant_part(1, middle, dim, 1) == "Attention":
            high = middle
        else:
            low = middle
    return high


def permutation_matrix(order, like):
    return torch.eye(len(order), dtype=like.dtype)[order]


def reorder_tokens(output, weights, order):
    p = permutation_matrix(order, output)
    return p @ output, p @ weights @ p.T


def reorder_source(output, weights, order):
    return output.clone(), weights @ permutation_matrix(order, weights).T


def reorder_mask(allowed, order):
    p = permutation_matrix(order, torch.empty(0))
    return (p @ allowed.float() @ p.T) > 0.5


def survives_reordering(allowed, order):
    length = len(order)
    return all(
        bool(allowed[order[i], order[j]]) == bool(allowed[i, j]) for i in range(length) for j in range(length)
    )
