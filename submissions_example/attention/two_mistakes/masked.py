import torch
import math


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    if key_lengths is None:
        batch_size = 1
    else:
        batch_size = key_lengths.shape[0]
    # start with everything allowed
    mask = torch.full((batch_size, query_length, key_length), True)
    for b in range(batch_size):
        for i in range(query_length):
            for j in range(key_length):
                if is_causal and j > i + 1:
                    mask[b, i, j] = False
                if key_lengths is not None and j >= key_lengths[b]:
                    mask[b, i, j] = False
    return mask


def masked_attention(query, key, value, mask=None):
    dim = query.shape[2]
    scores = torch.bmm(query, key.transpose(1, 2))
    scores = scores / math.sqrt(dim)
    if mask is not None:
        if mask.dtype == torch.bool:
            allowed = mask.expand(scores.shape)
            scores = scores.masked_fill(allowed == False, -math.inf)
        else:
            allowed = (mask != -math.inf).expand(scores.shape)
            scores = scores + mask
        # ValueError if some query has nothing
        count = allowed.sum(dim=2)
        if torch.any(count == 0):
            raise ValueError("A query has nothing to attend to")
    weights = torch.softmax(scores, dim=2)
    out = torch.bmm(weights, value)
    return out, weights
