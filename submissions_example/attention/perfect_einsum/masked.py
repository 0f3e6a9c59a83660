import torch as th


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    q = th.arange(query_length)[None, :, None]
    k = th.arange(key_length)[None, None, :]
    ok = k <= q if is_causal else k < key_length
    if key_lengths is not None:
        ok = ok & (k < key_lengths[:, None, None])
    return ok


def as_additive(mask, dtype):
    """True -> 0, False -> -inf. Float masks stay as they are."""
    if mask.dtype != th.bool:
        return mask
    return th.where(mask, 0.0, -th.inf).to(dtype)


def masked_attention(query, key, value, mask=None):
    logits = th.einsum("bqd,bkd->bqk", query * query.size(-1) ** -0.5, key)
    if mask is not None:
        extra = as_additive(mask, logits.dtype)
        if (extra == -th.inf).all(-1).any():
            raise ValueError("empty row in mask")
        logits = logits + extra
    probs = logits.softmax(-1)
    return th.einsum("bqk,bke->bqe", probs, value), probs
