"""Right answers in another style: tensors without axes as numbers, scatter and gather."""

import math

import torch


def cross_attention_shapes(batch, queries, keys, dim, value_dim):
    key_t = torch.Size((batch, dim, keys))
    scores = torch.Size((batch, queries, keys))
    out = torch.Size((batch, queries, value_dim))
    return key_t, scores, out


def scores_memory(batch, tokens, dim, heads, element_bytes):
    return torch.tensor([batch, heads, tokens, tokens, element_bytes]).prod()


def attention_flops(batch, tokens, dim, heads):
    sizes = [(dim, dim)] * 4 + [(dim, tokens), (tokens, dim)]
    return torch.tensor(sum(2 * batch * tokens * k * n for k, n in sizes))


def feed_forward_flops(batch, tokens, dim, heads):
    return math.prod((2, 2, batch, tokens, dim, 4 * dim))


def dominant_part(batch, tokens, dim, heads):
    parts = {
        "attention": attention_flops(batch, tokens, dim, heads),
        "feed_forward": feed_forward_flops(batch, tokens, dim, heads),
    }
    return max(parts, key=parts.get)


def attention_dominates_from(dim):
    return math.floor((16 * dim - 8 * dim) / 4) + 1


def reorder_tokens(output, weights, order):
    new_output = torch.stack([output[:, i] for i in order.tolist()], dim=1)
    rows = torch.stack([weights[:, i] for i in order.tolist()], dim=1)
    return new_output, torch.stack([rows[..., j] for j in order.tolist()], dim=-1)


def reorder_source(output, weights, order):
    index = order.expand(*weights.shape[:-1], -1)
    return output, weights.gather(-1, index)


def reorder_mask(allowed, order):
    return allowed.index_select(0, order).index_select(1, order)


def survives_reordering(allowed, order):
    return torch.all(allowed[order][:, order] == allowed)
