import math

import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    """causal multi-head self-attention"""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model ({d_model}) is not divisible by n_heads ({n_heads})")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, padding_mask=None):
        B, T, d_model = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)  # each (B, T, d_model)
        # (B, T, d_model) -> (B, H, T, d_head)
        q = q.view(B, T, self.n_heads, self.d_head).transpose(1, 2)
        k = k.view(B, T, self.n_heads, self.d_head).transpose(1, 2)
        v = v.view(B, T, self.n_heads, self.d_head).transpose(1, 2)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)  # (B, H, T, T)
        future = torch.triu(torch.ones(T, T, dtype=torch.bool, device=x.device), diagonal=1)
        scores = scores.masked_fill(future, float("-inf"))
        if padding_mask is not None:
            scores = scores.masked_fill(padding_mask[:, None, None, :], float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        context = weights @ v
        context = context.transpose(1, 2).contiguous().view(B, T, d_model)
        return self.out(context), weights


if __name__ == "__main__":
    torch.manual_seed(0)
    mine = MultiHeadSelfAttention(16, 4)
    theirs = nn.MultiheadAttention(16, 4, bias=False, batch_first=True)
    theirs.in_proj_weight.data.copy_(mine.qkv.weight.data)
    theirs.out_proj.weight.data.copy_(mine.out.weight.data)
    x = torch.randn(2, 5, 16)
    mask = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
    print((mine(x)[0] - theirs(x, x, x, attn_mask=mask)[0]).abs().max())
