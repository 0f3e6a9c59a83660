import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadSelfAttention(nn.Module):

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(256, 256)))

    def forward(self, x, padding_mask=None):
        B, T, C = x.shape
        qkv = self.qkv(x).reshape(B, T, 3, self.n_heads, C // self.n_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        wei = torch.einsum('bhid,bhjd->bhij', q, k) * (C // self.n_heads) ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float('-inf'))
        if padding_mask is not None:
            wei = wei.masked_fill(padding_mask.unsqueeze(1).unsqueeze(2), float('-inf'))
        wei = F.softmax(wei, dim=-1)
        out = torch.einsum('bhij,bhjd->bihd', wei, v).reshape(B, T, C)
        return self.out(out), wei
