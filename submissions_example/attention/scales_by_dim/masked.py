# Assignment: attention, masks

import torch
import torch.nn.functional as F


def subsequent_mask(L, S):
    "Mask out subsequent positions."
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
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / d_k
    if mask is not None:
        if mask.dtype == torch.bool:
            if not mask.any(dim=-1).all():
                raise ValueError("nothing to attend to")
            scores = scores.masked_fill(mask == 0, -1e9)
        else:
            if (mask == float('-inf')).all(dim=-1).any():
                raise ValueError("nothing to attend to")
            scores = scores + mask
    p_attn = F.softmax(scores, dim=-1)
    return torch.matmul(p_attn, value), p_attn
