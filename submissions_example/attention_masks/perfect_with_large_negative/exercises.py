"""Answers as floats and lists, the word in capitals."""
import numpy as np
import torch


def cross_attention_shapes(batch, queries, keys, dim, value_dim):
    K = torch.zeros(batch, keys, dim)
    Q = torch.zeros(batch, queries, dim)
    V = torch.zeros(batch, keys, value_dim)
    S = Q @ K.transpose(1, 2)
    return [K.transpose(1, 2).shape, S.shape, (S @ V).shape]


def scores_memory(batch, tokens, dim, heads, element_bytes):
    return np.prod([batch, heads, tokens, tokens]) * element_bytes


def attention_flops(batch, tokens, dim, heads):
    d_head = dim / heads
    macs = 4 * tokens * dim**2 + heads * 2 * tokens**2 * d_head
    return 2 * batch * macs


def feed_forward_flops(batch, tokens, dim, heads):
    return 2 * batch * tokens * 2 * dim * 4 * dim


def dominant_part(batch, tokens, dim, heads):
    a = attention_flops(batch, tokens, dim, heads)
    f = feed_forward_flops(batch, tokens, dim, heads)
    return "Attention" if a > f else "Feed-Forward"


def attention_dominates_from(dim):
    tokens = 1
    while dominant_part(1, tokens, dim, 1) != "Attention":
        tokens += 1
    return tokens


def reorder_tokens(output, weights, order):
    weights = weights[:, order, :]
    weights = weights[:, :, order]
    return output[:, order, :], weights


def reorder_source(output, weights, order):
    return output, weights[..., order]


def reorder_mask(allowed, order):
    return allowed[np.ix_(order, order)]


def survives_reordering(allowed, order):
    return (allowed[order][:, order] == allowed).all()
