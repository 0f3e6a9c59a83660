import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        self.h = n_heads
        self.d = d_model // n_heads
        if self.h * self.d != d_model:
            raise ValueError("n_heads does not divide d_model")
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = [
            nn.Linear(d_model, d_model, bias=bias) for _ in "qkvo"
        ]

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        Q, K, V = self.q_proj(query), self.k_proj(key), self.v_proj(value)

        forbidden = torch.zeros(Q.size(0), Q.size(1), K.size(1), dtype=torch.bool)
        if is_causal:
            forbidden |= torch.arange(K.size(1))[None, :] > torch.arange(Q.size(1))[:, None]
        if key_padding_mask is not None:
            forbidden |= key_padding_mask[:, None, :]

        outs, all_probs = [], []
        for h in range(self.h):
            part = slice(h * self.d, (h + 1) * self.d)
            scores = torch.einsum("bqd,bkd->bqk", Q[:, :, part], K[:, :, part]) / self.d ** 0.5
            probs = torch.where(forbidden, -torch.inf, scores).softmax(-1)
            outs.append(torch.einsum("bqk,bkd->bqd", probs, V[:, :, part]))
            all_probs.append(probs)
        return self.out_proj(torch.cat(outs, -1)), torch.stack(all_probs, 1)
