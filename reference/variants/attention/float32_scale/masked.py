"""The scale is a float32 tensor without axes, which leaves the dtype of the scores alone."""

import torch


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    mask = torch.ones((query_length, key_length), dtype=torch.bool)
    if is_causal:
        mask = torch.tril(mask)
    mask = mask.unsqueeze(0)
    if key_lengths is not None:
        mask = mask * (torch.arange(key_length).unsqueeze(0) < key_lengths.unsqueeze(1)).unsqueeze(1)
    return mask


def masked_attention(query, key, value, mask=None):
    scale = torch.sqrt(torch.tensor(query.shape[-1], dtype=torch.float32))
    scores = query @ key.transpose(-2, -1) / scale
    if mask is not None:
        if mask.dtype == torch.bool:
            scores = scores.masked_fill(mask == False, float("-inf"))  # noqa: E712
        else:
            scores = mask + scores
        for row in scores.reshape(-1, scores.shape[-1]):
            if torch.max(row) == float("-inf"):
                raise ValueError("a query cannot attend to anything")
    weights = torch.softmax(scores, -1)
    return weights @ value, weights
