import torch
from torch import nn, Tensor
from torch.nn import functional as F


def scaled_dot_product_two_loop_single(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    K, M = query.shape
    rows = []
    for i in range(K):
        row = []
        for j in range(K):
            row.append((query[i] @ key[j]) / (M**0.5))
        rows.append(torch.stack(row).softmax(dim=0) @ value)
    return torch.stack(rows)


def scaled_dot_product_two_loop_batch(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    N, K, M = query.shape
    rows = []
    for i in range(K):
        row = []
        for j in range(K):
            row.append((query[:, i] * key[:, j]).sum(-1) / (M**0.5))
        w = torch.stack(row, dim=-1).softmax(dim=-1)
        rows.append((w.unsqueeze(-1) * value).sum(1))
    return torch.stack(rows, dim=1)


def scaled_dot_product_no_loop_batch(query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None) -> Tensor:
    M = query.shape[2]
    scores = query @ key.mT / (M**0.5)
    if mask is not None:
        scores = torch.where(mask, torch.full_like(scores, -1e9), scores)
    weights_softmax = F.softmax(scores, dim=-1)
    return weights_softmax @ value, weights_softmax


class SelfAttention(nn.Module):
    def __init__(self, dim_in: int, dim_q: int, dim_v: int):
        super().__init__()
        self.q = nn.Linear(dim_in, dim_q)
        self.k = nn.Linear(dim_in, dim_q)
        self.v = nn.Linear(dim_in, dim_v)
        self.weights_softmax = None
        nn.init.xavier_uniform_(self.q.weight)
        nn.init.xavier_uniform_(self.k.weight)
        nn.init.xavier_uniform_(self.v.weight)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None) -> Tensor:
        y, self.weights_softmax = scaled_dot_product_no_loop_batch(
            self.q(query), self.k(key), self.v(value), mask
        )
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads: int, dim_in: int, dim_out: int):
        super().__init__()
        # num_heads copies of the head
        head = SelfAttention(dim_in, dim_out, dim_out)
        self.heads = nn.ModuleList([head] * num_heads)
        self.fc = nn.Linear(num_heads * dim_out, dim_in)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None) -> Tensor:
        y = torch.cat([h(query, key, value, mask) for h in self.heads], dim=-1)
        return self.fc(y)


def get_subsequent_mask(seq):
    N, K = seq.shape
    return torch.ones(N, K, K).triu(1) == 1
