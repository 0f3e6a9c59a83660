"""Exercises. FLOPs are multiply-accumulates."""
import torch


def cross_attention_shapes(batch, queries, keys, dim, value_dim):
    return (batch, dim, keys), (batch, queries, keys), (batch, queries, value_dim)


def scores_memory(batch, tokens, dim, heads, element_bytes):
    return batch * tokens ** 2 * element_bytes


def attention_flops(batch, tokens, dim, heads):
    qkvo = 4 * batch * tokens * dim ** 2
    qk = batch * tokens ** 2 * dim
    av = batch * tokens ** 2 * dim
    return qkvo + qk + av


def feed_forward_flops(batch, tokens, dim, heads):
    return 2 * batch * tokens * dim * 4 * dim


def dominant_part(batch, tokens, dim, heads):
    return "attention" if attention_flops(batch, tokens, dim, heads) > feed_forward_flops(batch, tokens, dim, heads) else "feed-forward"


def attention_dominates_from(dim):
    return 2 * dim


def reorder_tokens(output, weights, order):
    inverse = torch.argsort(order)
    return output[:, inverse], weights[:, inverse][:, :, inverse]


def reorder_source(output, weights, order):
    inverse = torch.argsort(order)
    return output, weights[:, :, inverse]


def reorder_mask(allowed, order):
    inverse = torch.argsort(order)
    return allowed[inverse][:, inverse]


def survives_reordering(allowed, order):
    return bool(allowed.all())
