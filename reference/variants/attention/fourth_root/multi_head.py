"""Query and key are each scaled by the fourth root; the masks come from the neighbouring file."""

from masked import attention_mask
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model // n_heads * n_heads != d_model:
            raise ValueError("uneven heads")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        allowed = attention_mask(query.shape[1], key.shape[1], None, is_causal)[:, None]
        if key_padding_mask is not None:
            allowed = allowed & ~key_padding_mask[:, None, None, :]
        q = self.q_proj(query).unflatten(-1, (self.n_heads, -1)).movedim(2, 1)
        k = self.k_proj(key).unflatten(-1, (self.n_heads, -1)).movedim(2, 1)
        v = self.v_proj(value).unflatten(-1, (self.n_heads, -1)).movedim(2, 1)
        root = q.shape[-1] ** 0.25
        scores = (q / root) @ (k / root).mT
        weights = scores.masked_fill(~allowed, float("-inf")).softmax(-1)
        return self.out_proj((weights @ v).movedim(1, 2).flatten(2)), weights
