import torch
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads: raise ValueError('d_model % n_heads')
        self.H, self.D = n_heads, d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias)
        self.k_proj = nn.Linear(d_model, d_model, bias)
        self.v_proj = nn.Linear(d_model, d_model, bias)
        self.out_proj = nn.Linear(d_model, d_model, bias)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        (B, L, E), S = query.shape, key.shape[1]
        q = self.q_proj(query).view(B, L, self.H, self.D).transpose(1, 2)
        k = self.k_proj(key).view(B, S, self.H, self.D).transpose(1, 2)
        v = self.v_proj(value).view(B, S, self.H, self.D).transpose(1, 2)
        s = q @ k.mT * self.D**-.5
        if is_causal: s = s.masked_fill(torch.ones(L, S, dtype=torch.bool).triu(1), float('-inf'))
        if key_padding_mask is not None: s = s.masked_fill(key_padding_mask[:, None, None], float('-inf'))
        w = s.softmax(-1)
        return self.out_proj((w @ v).transpose(1, 2).reshape(B, L, E)), w
