import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("bad number of heads")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, padding_mask=None):
        B, T, D = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.reshape(B, self.n_heads, T, self.d_head)
        k = k.reshape(B, self.n_heads, T, self.d_head)
        v = v.reshape(B, self.n_heads, T, self.d_head)
        s = q @ k.transpose(-2, -1) / self.d_head**0.5
        ok = torch.ones(T, T, dtype=torch.bool).tril()
        if padding_mask is not None:
            ok = ok & ~padding_mask[:, None, None, :]
        w = s.masked_fill(~ok, float("-inf")).softmax(-1)
        y = (w @ v).transpose(1, 2).reshape(B, T, D)
        return self.out(y), w
