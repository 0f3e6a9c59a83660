"""My answers."""
import torch


def cross_attention_shapes(batch, queries, keys, dim, value_dim):
    return "[B, D, S]", "[B, L, S]", "[B, L, Dv]"


def scores_memory(batch, tokens, dim, heads, element_bytes):
    return f"{batch * heads * tokens * tokens * element_bytes} bytes"


def attention_flops(batch, tokens, dim, heads):
    print("projections", 8 * batch * tokens * dim * dim)
    return 8 * batch * tokens * dim * dim, 4 * batch * tokens * tokens * dim


def feed_forward_flops(batch, tokens, dim, heads):
    return {"up": 8 * batch * tokens * dim**2, "down": 8 * batch * tokens * dim**2}


def dominant_part(batch, tokens, dim, heads):
    return "FFN" if tokens < 2 * dim else "attention"


def attention_dominates_from(dim):
    return f"T > {2 * dim}"


def reorder_tokens(output, weights, order):
    return output[:, order]


def reorder_source(output, weights, order):
    return weights[:, :, order]


def reorder_mask(allowed, order):
    rows = allowed[order]
    mask = rows[:, order]
    print(mask)


def survives_reordering(allowed, order):
    if allowed.all():
        return "yes"
    return "no"
