"""Masks filled row by row, attention sample by sample."""

import torch
from single_head import softmax_of_rows


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    B = 1 if key_lengths is None else len(key_lengths)
    mask = torch.zeros(B, query_length, key_length, dtype=torch.bool)
    for b in range(B):
        real = key_length
        if key_lengths is not None:
            real = int(key_lengths[b])
        for i in range(query_length):
            seen = key_length
            if is_causal:
                seen = i + 1
            mask[b, i, : min(seen, real)] = True
    return mask


def masked_attention(query, key, value, mask=None):
    B, L, D = query.shape
    S = key.shape[1]
    outputs, weights = [], []
    for b in range(B):
        scores = torch.mm(query[b], key[b].t()) / D**0.5
        if mask is not None:
            m = mask.expand(B, L, S)[b]
            allowed = m if m.dtype == torch.bool else m != float("-inf")
            for i in range(L):
                if not allowed[i].any():
                    raise ValueError(f"query {i} may attend to nothing")
            if m.dtype == torch.bool:
                scores[~m] = float("-inf")
            else:
                scores = scores + m
        rows = softmax_of_rows(scores)
        outputs.append(torch.mm(rows, value[b]))
        weights.append(rows)
    return torch.stack(outputs), torch.stack(weights)
