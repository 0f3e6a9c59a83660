import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


def scaled_dot_product_two_loop_single(query, key, value):
    K, M = query.shape
    y = torch.zeros(K, M)
    for i in range(K):
        w = torch.zeros(K)
        for j in range(K):
            w[j] = torch.sum(query[i] * key[j]) / math.sqrt(M)
        w = F.softmax(w, dim=0)
        y[i] = torch.sum(w.view(K, 1) * value, dim=0)
    return y


def scaled_dot_product_two_loop_batch(query, key, value):
    N, K, M = query.shape
    y = torch.zeros(N, K, M)
    for i in range(K):
        w = torch.zeros(N, K)
        for j in range(K):
            w[:, j] = torch.sum(query[:, i] * key[:, j], dim=1) / math.sqrt(M)
        w = F.softmax(w, dim=1)
        y[:, i] = torch.sum(w.view(N, K, 1) * value, dim=1)
    return y


def scaled_dot_product_no_loop_batch(query, key, value, mask=None):
    M = query.shape[-1]
    w = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(M)
    if mask is not None:
        w = w.masked_fill(mask, -1e9)
    weights_softmax = F.softmax(w, dim=-1)
    y = torch.bmm(weights_softmax, value)
    return y, weights_softmax


class SelfAttention(nn.Module):
    def __init__(self, dim_in, dim_q, dim_v):
        super().__init__()
        self.q = nn.Linear(dim_in, dim_q)
        self.k = nn.Linear(dim_in, dim_q)
        self.v = nn.Linear(dim_in, dim_v)
        self.weights_softmax = None

    def forward(self, query, key, value, mask=None):
        y, self.weights_softmax = scaled_dot_product_no_loop_batch(
            self.q(query), self.k(key), self.v(value), mask
        )
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads, dim_in, dim_out):
        super().__init__()
        self.heads = nn.ModuleList([SelfAttention(dim_in, dim_out, dim_out) for _ in range(num_heads)])
        self.linear = nn.Linear(num_heads * dim_out, dim_in)

    def forward(self, query, key, value, mask=None):
        return self.linear(torch.cat([h(query, key, value, mask) for h in self.heads], dim=-1))


def get_subsequent_mask(seq):
    N, K = seq.shape
    mask = torch.triu(torch.ones(N, K, K), diagonal=1)
    return mask.bool()


class PositionalEncoding(nn.Module):
    def __init__(self, dim, max_len=50):
        super().__init__()
        pos = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        pe = torch.zeros(1, max_len, dim)
        pe[0, :, 0::2] = torch.sin(pos * div)
        pe[0, :, 1::2] = torch.cos(pos * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[:, : x.size(1)]


class Block(nn.Module):
    def __init__(self, num_heads, dim):
        super().__init__()
        self.attention = MultiHeadAttention(num_heads, dim, dim // num_heads)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.ReLU(), nn.Linear(4 * dim, dim))

    def forward(self, x, mask=None):
        x = self.norm1(x + self.attention(x, x, x, mask))
        return self.norm2(x + self.mlp(x))


class Transformer(nn.Module):
    def __init__(self, vocab, num_heads=2, dim=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.pos = PositionalEncoding(dim)
        self.blocks = nn.ModuleList([Block(num_heads, dim) for _ in range(2)])
        self.out = nn.Linear(dim, vocab)

    def forward(self, seq):
        mask = get_subsequent_mask(seq)
        x = self.pos(self.emb(seq))
        for block in self.blocks:
            x = block(x, mask)
        return self.out(x)


class AddSubDataset(Dataset):
    def __init__(self, size):
        self.rows = []
        for _ in range(size):
            a, b = random.randint(0, 49), random.randint(0, 49)
            self.rows.append(torch.tensor([int(c) for c in f"{a:02}{b:02}{a + b:02}"]))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def train(model, loader, epochs, lr):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        total = 0.0
        for seq in loader:
            pred = model(seq[:, :-1])
            loss = F.cross_entropy(pred.reshape(-1, pred.size(-1)), seq[:, 1:].reshape(-1))
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(loader):.4f}")


if __name__ == "__main__":
    random.seed(0)
    train(Transformer(10), DataLoader(AddSubDataset(5000), batch_size=64, shuffle=True), epochs=200, lr=1e-3)
