import torch


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    q = torch.arange(query_length)[None, :, None]
    k = torch.arange(key_length)[None, None, :]
    ok = k <= q if is_causal else k < key_length
    if key_lengths is not None:
        ok = ok & (k < key_lengths[:, None, None])
    return ok


def as_additive(mask, dtype):
    """True -> 0, False -> -inf. Float masks stay as they are."""
    if mask.dtype != torch.bool:
        return mask
    return torch.where(mask, 0.0, -torch.inf).to(dtype)


def masked_attention(query, key, value, mask=None):
    scores = torch.einsum("bqd,bkd->bqk", query * query.size(-1) ** -0.5, key)
    if mask is not None:
        bias = as_additive(mask, scores.dtype)
        if (bias == -torch.inf).all(-1).any():
            raise ValueError("empty row in mask")
        scores = scores + bias
    probs = scores.softmax(-1)
    return torch.einsum("bqk,bke->bqe", probs, value), probs
