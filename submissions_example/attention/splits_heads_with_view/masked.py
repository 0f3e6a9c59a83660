import torch
NEG = float('-inf')

def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    m = torch.ones(query_length, key_length, dtype=torch.bool)
    if is_causal: m = m.tril()
    if key_lengths is not None: m = m & (torch.arange(key_length) < key_lengths[:, None, None])
    return m

def masked_attention(query, key, value, mask=None):
    s = query @ key.mT * query.shape[-1]**-.5
    if mask is not None:
        s = torch.where(mask, s, NEG) if mask.dtype == torch.bool else s + mask
        if (s.amax(-1) == NEG).any(): raise ValueError('dead row')
    w = s.softmax(-1)
    return w @ value, w
