import json
import math

import pytorch_lightning as pl
import torch
import torch.nn as nn
import torch.nn.functional as F

with open("two_digit_op.json") as file:
    DATA = json.load(file)


def scaled_dot_product_two_loop_single(query, key, value):
    K, M = query.shape
    energies = torch.zeros(K, K).to(query.dtype)
    for q in range(K):
        for k in range(K):
            energies[q, k] = (query[q] * key[k]).sum() / math.sqrt(M)
    return F.softmax(energies, dim=1).mm(value)


def scaled_dot_product_two_loop_batch(query, key, value):
    N, K, M = query.shape
    energies = torch.zeros(N, K, K).to(query.dtype)
    for q in range(K):
        for k in range(K):
            energies[:, q, k] = (query[:, q] * key[:, k]).sum(1) / math.sqrt(M)
    return F.softmax(energies, dim=2).bmm(value)


def scaled_dot_product_no_loop_batch(query, key, value, mask=None):
    energies = query.bmm(key.transpose(1, 2)) / math.sqrt(query.shape[2])
    if mask is not None:
        energies = energies.masked_fill(mask, -1e9)
    weights_softmax = F.softmax(energies, dim=2)
    return weights_softmax.bmm(value), weights_softmax


class SelfAttention(nn.Module):
    def __init__(self, dim_in, dim_q, dim_v):
        super().__init__()
        self.q = nn.Linear(dim_in, dim_q)
        self.k = nn.Linear(dim_in, dim_q)
        self.v = nn.Linear(dim_in, dim_v)
        for part in (self.q, self.k, self.v):
            nn.init.xavier_uniform_(part.weight)
        self.weights_softmax = None

    def forward(self, query, key, value, mask=None):
        y, self.weights_softmax = scaled_dot_product_no_loop_batch(self.q(query), self.k(key), self.v(value), mask)
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads, dim_in, dim_out):
        super().__init__()
        self.head = nn.ModuleList(SelfAttention(dim_in, dim_out, dim_out) for _ in range(num_heads))
        self.lin = nn.Linear(num_heads * dim_out, dim_in)

    def forward(self, query, key, value, mask=None):
        return self.lin(torch.cat([h(query, key, value, mask) for h in self.head], dim=2))


class LitTransformer(pl.LightningModule):
    def __init__(self, vocab):
        super().__init__()
        self.attention = MultiHeadAttention(4, 32, 8)
        self.out = nn.Linear(32, vocab)

    def training_step(self, batch, _):
        x, y = batch
        return F.cross_entropy(self.out(self.attention(x, x, x)), y)


def get_subsequent_mask(seq):
    N, K = seq.shape
    return torch.ones(N, K, K, device=seq.device).triu(1) > 0


model = LitTransformer(len(DATA["vocab"]))
trainer = pl.Trainer(max_epochs=10)
trainer.fit(model, DATA["train"])
