import torch as th
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

        forbidden = th.zeros(Q.size(0), Q.size(1), K.size(1), dtype=th.bool)
        if is_causal:
            forbidden |= th.arange(K.size(1))[None, :] > th.arange(Q.size(1))[:, None]
        if key_padding_mask is not None:
            forbidden |= key_padding_mask[:, None, :]

        # one head after the other, probably slow but I find it easier to read
        outs, maps = [], []
        for h in range(self.h):
            mine = slice(h * self.d, (h + 1) * self.d)
            logits = th.einsum("bqd,bkd->bqk", Q[:, :, mine], K[:, :, mine]) / self.d ** 0.5
            probs = th.where(forbidden, -th.inf, logits).softmax(-1)
            outs.append(th.einsum("bqk,bkd->bqd", probs, V[:, :, mine]))
            maps.append(probs)
        return self.out_proj(th.cat(outs, -1)), th.stack(maps, 1)
