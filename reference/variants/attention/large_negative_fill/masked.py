"""The style of many tutorials: a fill of -1e9."""

import math

import numpy as np
import torch
import torch.nn.functional as F


def subsequent_mask(rows, columns):
    return torch.from_numpy(np.triu(np.ones((1, rows, columns)), k=1).astype("uint8")) == 0


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    mask = torch.ones(1, query_length, key_length, dtype=torch.uint8) == 1
    if is_causal:
        mask = subsequent_mask(query_length, key_length)
    if key_lengths is not None:
        mask = mask & (torch.arange(key_length).unsqueeze(0) < key_lengths.unsqueeze(1)).unsqueeze(-2)
    return mask


def masked_attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        if mask.dtype != torch.bool:
            scores = scores + torch.where(mask == float("-inf"), torch.zeros_like(mask), mask)
            mask = mask != float("-inf")
        if (mask.sum(-1) == 0).any():
            raise ValueError("fully masked row")
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = F.softmax(scores, dim=-1)
    return torch.matmul(p_attn, value), p_attn
