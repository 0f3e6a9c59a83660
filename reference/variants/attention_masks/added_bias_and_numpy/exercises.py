"""Right answers in another style: numbers of NumPy's."""

import numpy as np
import torch


def cross_attention_shapes(batch, queries, keys, dim, value_dim):
    query, key, value = np.empty((batch, queries, dim)), np.empty((batch, keys, dim)), np.empty((batch, keys, value_dim))
    scores = query @ key.transpose(0, 2, 1)
    return np.swapaxes(key, 1, 2).shape, scores.shape, (scores @ value).shape


def scores_memory(batch, tokens, dim, heads, element_bytes):
    return np.prod([batch, heads, tokens, tokens, element_bytes])


def attention_flops(batch, tokens, dim, heads):
    return np.int64(2) * batch * tokens * (4 * dim * dim + 2 * tokens * dim)


def feed_forward_flops(batch, tokens, dim, heads):
    return np.float64(2 * batch * tokens * 8 * dim * dim)


def dominant_part(batch, tokens, dim, heads):
    names = np.array(["attention", "feed-forward"])
    both = [attention_flops(batch, tokens, dim, heads), feed_forward_flops(batch, tokens, dim, heads)]
    return str(names[np.argmax(both)])


def attention_dominates_from(dim):
    return np.int64(2 * dim + 1)


def reorder_tokens(output, weights, order):
    where = order.numpy()
    moved = weights.numpy()[:, where][:, :, where]
    return output[:, order], torch.from_numpy(np.ascontiguousarray(moved))


def reorder_source(output, weights, order):
    return output, torch.take_along_dim(weights, order[None, None], dim=2)


def reorder_mask(allowed, order):
    return torch.from_numpy(allowed.numpy()[np.ix_(order, order)])


def survives_reordering(allowed, order):
    return np.array_equal(allowed.numpy()[np.ix_(order, order)], allowed.numpy())
