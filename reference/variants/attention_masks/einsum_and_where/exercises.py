"""Right answers in another style: closed formulas, index_select."""

import torch


def cross_attention_shapes(batch, queries, keys, dim, value_dim):
    query, key, value = torch.empty(batch, queries, dim), torch.empty(batch, keys, dim), torch.empty(batch, keys, value_dim)
    scores = torch.einsum("bld,bsd->bls", query, key)
    return key.transpose(1, 2).shape, scores.shape, torch.einsum("bls,bsv->blv", scores, value).shape


def scores_memory(batch, tokens, dim, heads, element_bytes):
    return batch * heads * tokens**2 * element_bytes


def attention_flops(batch, tokens, dim, heads):
    return 8 * batch * tokens * dim**2 + 4 * batch * tokens**2 * dim


def feed_forward_flops(batch, tokens, dim, heads):
    return 16 * batch * tokens * dim**2


def dominant_part(batch, tokens, dim, heads):
    return "attention" if tokens > 2 * dim else "feed-forward"


def attention_dominates_from(dim):
    return 2 * dim + 1


def reorder_tokens(output, weights, order):
    return output.index_select(1, order), weights.index_select(1, order).index_select(2, order)


def reorder_source(output, weights, order):
    return output, weights.index_select(2, order)


def reorder_mask(allowed, order):
    return allowed[order[:, None], order[None, :]]


def survives_reordering(allowed, order):
    return bool((reorder_mask(allowed, order) == allowed).all())
