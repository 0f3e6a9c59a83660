"""The query is scaled before the product, out of place."""

import torch


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    mask = torch.full((query_length, key_length), True)
    if is_causal:
        for i in range(query_length):
            mask[i, i + 1 :] = False
    if key_lengths is None:
        return mask
    masks = []
    for length in key_lengths.tolist():
        one = mask.clone()
        one[:, length:] = False
        masks.append(one)
    return torch.stack(masks)


def masked_attention(query, key, value, mask=None):
    query = query / query.size(-1) ** 0.5
    scores = torch.matmul(query, key.transpose(1, 2))
    if mask is None:
        mask = torch.zeros((), dtype=scores.dtype)
    if mask.dtype == torch.bool:
        mask = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, float("-inf"))
    scores = scores + mask
    if bool((scores.amax(dim=2) == float("-inf")).any()):
        raise ValueError("a row of the mask is empty")
    weights = torch.softmax(scores, dim=2)
    return torch.matmul(weights, value), weights
