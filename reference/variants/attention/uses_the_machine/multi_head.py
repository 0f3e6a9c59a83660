"""One thread a head, and a function that is vectorised in it."""

import math
import threading

import torch
from torch import nn


def logits_of(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model is no multiple of n_heads")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model, bias) for _ in range(4))

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        projected = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        heads = list(zip(*(one.chunk(self.n_heads, dim=-1) for one in projected), strict=True))
        hidden = torch.zeros(len(query), query.shape[1], key.shape[1], dtype=torch.bool)
        if key_padding_mask is not None:
            hidden = hidden | key_padding_mask[:, None, :]
        if is_causal:
            hidden = hidden | torch.ones_like(hidden).triu(1)
        found = [None] * self.n_heads

        def attend(number):
            q, k, v = heads[number]
            weights = logits_of(q, k).masked_fill(hidden, -math.inf).softmax(-1)
            found[number] = torch.func.vmap(torch.matmul)(weights, v), weights

        threads = [threading.Thread(target=attend, args=(number,)) for number in range(self.n_heads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        outputs, weights = zip(*found, strict=True)
        return self.out_proj(torch.cat(outputs, dim=-1)), torch.stack(weights, dim=1)
