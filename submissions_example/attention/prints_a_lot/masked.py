import torch
import math


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    # how many samples are there?
    if key_lengths is None:
        batch_size = 1
    else:
        batch_size = key_lengths.shape[0]
    # start with everything allowed
    mask = torch.full((batch_size, query_length, key_length), True)
    # I first had this with tril but the loops are easier to understand
    for b in range(batch_size):
        for i in range(query_length):
            for j in range(key_length):
                if is_causal == True and j > i:
                    mask[b, i, j] = False
                if key_lengths is not None and j >= key_lengths[b]:
                    mask[b, i, j] = False
    return mask


def masked_attention(query, key, value, mask=None):
    d_k = query.shape[2]
    scores = torch.bmm(query, key.transpose(1, 2))
    scores = scores / math.sqrt(d_k)
    if mask is not None:
        if mask.dtype == torch.bool:
            allowed = mask.expand(scores.shape)
            scores = scores.masked_fill(allowed == False, -math.inf)
        else:
            allowed = (mask != -math.inf).expand(scores.shape)
            scores = scores + mask
        # ValueError if some query has nothing
        how_many = allowed.sum(dim=2)
        if torch.any(how_many == 0):
            raise ValueError("A query has nothing to attend to!")
    attention_weights = torch.softmax(scores, dim=2)
    result = torch.bmm(attention_weights, value)
    return result, attention_weights
