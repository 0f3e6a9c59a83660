"""Right answers in another style: a small class that counts."""

from dataclasses import dataclass

import torch


@dataclass
class Block:
    batch: int
    tokens: int
    dim: int
    heads: int

    @property
    def projections(self):
        return 4 * 2 * self.batch * self.tokens * self.dim * self.dim

    @property
    def mixing(self):
        head_dim = self.dim / self.heads
        return 2 * (2 * self.batch * self.heads * self.tokens * self.tokens * head_dim)

    @property
    def feed_forward(self):
        return 2 * 2 * self.batch * self.tokens * self.dim * (4 * self.dim)


def cross_attention_shapes(batch, queries, keys, dim, value_dim):
    return (batch, dim, keys), (batch, queries, keys), (batch, queries, value_dim)


def scores_memory(batch, tokens, dim, heads, element_bytes):
    scores = torch.empty(batch, heads, tokens, tokens, device="meta")
    return scores.numel() * element_bytes


def attention_flops(batch, tokens, dim, heads):
    block = Block(batch, tokens, dim, heads)
    return block.projections + block.mixing


def feed_forward_flops(batch, tokens, dim, heads):
    return Block(batch, tokens, dim, heads).feed_forward


def dominant_part(batch, tokens, dim, heads):
    return ["feed-forward", "attention"][attention_flops(batch, tokens, dim, heads) > feed_forward_flops(batch, tokens, dim, heads)]


def attention_dominates_from(dim):
    return int(2 * dim) + 1


def reorder_tokens(output, weights, order):
    i = order.unsqueeze(1)
    return output[:, order, :], weights[:, i, i.T]


def reorder_source(output, weights, order):
    return output, weights[..., order]


def reorder_mask(allowed, order):
    mask = torch.zeros_like(allowed)
    for i, old_i in enumerate(order):
        for j, old_j in enumerate(order):
            mask[i, j] = allowed[old_i, old_j]
    return mask


def survives_reordering(allowed, order):
    return not (reorder_mask(allowed, order) ^ allowed).any().item()
