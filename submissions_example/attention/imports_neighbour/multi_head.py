"""Multi-head attention on top of masked.py (the handout says that we may import our own files)."""
from torch import nn

from masked import attention_mask, masked_attention


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def heads(self, x):
        return x.view(x.size(0), x.size(1), self.n_heads, -1).transpose(1, 2)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        mask = attention_mask(query.size(1), key.size(1), is_causal=is_causal)
        if key_padding_mask is not None:
            mask = mask & ~key_padding_mask.unsqueeze(1)    # opposite meaning here!!
        output, weights = masked_attention(
            self.heads(self.q_proj(query)),
            self.heads(self.k_proj(key)),
            self.heads(self.v_proj(value)),
            mask.unsqueeze(1),
        )
        return self.out_proj(output.transpose(1, 2).flatten(2)), weights
