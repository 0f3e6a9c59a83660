import torch
NEG = float('-inf')
MAX = 100_000   # should be long enough for everybody

def TABLE():
    return torch.ones(MAX, MAX).tril() == 1

def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    m = TABLE()[:query_length, :key_length] if is_causal else torch.ones(query_length, key_length, dtype=torch.bool)
    if key_lengths is not None: m = m & (torch.arange(key_length) < key_lengths[:, None, None])
    return m

def masked_attention(query, key, value, mask=None):
    s = query @ key.mT * query.shape[-1]**-0.5
    if mask is not None:
        s = torch.where(mask, s, NEG) if mask.dtype == torch.bool else s + mask
        if (s.amax(-1) == NEG).any(): raise ValueError('dead row')
    w = s.softmax(-1)
    return w @ value, w
