# Attention homework, masks

import math
import torch
import torch.nn.functional as F


def subsequent_mask(L, S):
    # lower triangle
    return torch.triu(torch.ones(1, L, S), diagonal=1) == 0


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    mask = torch.ones(1, query_length, key_length) == 1
    if is_causal:
        mask = subsequent_mask(query_length, key_length)
    if key_lengths is not None:
        pad = torch.arange(key_length).unsqueeze(0) < key_lengths.unsqueeze(1)
        mask = mask & pad.unsqueeze(-2)
    return mask


def masked_attention(query, key, value, mask=None):
    d = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d)
    if mask is not None:
        if mask.dtype == torch.bool:
            if mask.all(dim=-1).any():
                raise ValueError("nothing to attend to")
            scores = scores.masked_fill(mask, -1e9)  # True = masked
        else:
            if (mask == float('-inf')).all(dim=-1).any():
                raise ValueError("nothing to attend to")
            scores = scores + mask
    probs = F.softmax(scores, dim=-1)
    return torch.matmul(probs, value), probs
