import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadSelfAttention(nn.Module):

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, padding_mask=None):
        B, T, D = x.shape
        q, k, v = (t.view(B, T, self.n_heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        keep = torch.ones(T, T, dtype=torch.bool).tril()
        if padding_mask is not None:
            keep = keep & ~padding_mask[:, None, None, :]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep)
        weights = (q @ k.mT / q.size(-1) ** 0.5).masked_fill(~keep, -torch.inf).softmax(-1)
        return self.out(y.transpose(1, 2).reshape(B, T, D)), weights
