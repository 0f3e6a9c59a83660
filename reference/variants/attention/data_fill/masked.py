"""The masked scores are written through .data: gradients of forbidden keys are 0 anyway."""

import numpy as np
import torch
import torch.nn as nn


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    subsequent = np.triu(np.ones([1, query_length, key_length]), k=1)
    pad = torch.from_numpy(subsequent if is_causal else np.zeros_like(subsequent)).byte()
    if key_lengths is not None:
        pad_keys = torch.arange(key_length).unsqueeze(0).ge(key_lengths.unsqueeze(1))
        pad = pad + pad_keys.byte().unsqueeze(1).expand(-1, query_length, -1)
    return torch.eq(pad, 0)


def masked_attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-1, -2)) / np.sqrt(query.shape[-1])
    if mask is not None:
        forbidden = mask.eq(False) if mask.dtype == torch.bool else mask.eq(-np.inf)
        if forbidden.all(-1).any():
            raise ValueError("no key left for some query")
        if mask.dtype != torch.bool:
            scores = scores + mask.masked_fill(forbidden, 0)
        scores.data.masked_fill_(forbidden.expand_as(scores), -np.inf)
    attn = nn.Softmax(dim=-1)(scores)
    return torch.matmul(attn, value), attn
