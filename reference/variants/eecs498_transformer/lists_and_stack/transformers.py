"""Lists of tensors, stacked at the end; three real loops where there are samples."""

import math

import torch
from torch import nn


def scaled_dot_product_two_loop_single(query, key, value):
    outputs = []
    for one in query:
        scores = torch.stack([(one * other).sum() for other in key]) / math.sqrt(one.numel())
        weights = torch.softmax(scores, dim=0)
        outputs.append(sum(weight * row for weight, row in zip(weights, value, strict=True)))
    return torch.stack(outputs)


def scaled_dot_product_two_loop_batch(query, key, value):
    samples = zip(query, key, value, strict=True)
    return torch.stack([scaled_dot_product_two_loop_single(*sample) for sample in samples])


def scaled_dot_product_no_loop_batch(query, key, value, mask=None):
    outputs, weights = [], []
    for number in range(len(query)):
        scores = query[number] @ key[number].T / math.sqrt(query.shape[-1])
        if mask is not None:
            scores[mask[number]] = -1e9
        weights.append(torch.softmax(scores, dim=-1))
        outputs.append(weights[-1] @ value[number])
    return torch.stack(outputs), torch.stack(weights)


class SelfAttention(nn.Module):
    def __init__(self, dim_in, dim_q, dim_v):
        super().__init__()
        for name, width in {"q": dim_q, "k": dim_q, "v": dim_v}.items():
            layer = nn.Linear(dim_in, width)
            with torch.no_grad():
                layer.weight.copy_((2 * torch.rand(width, dim_in) - 1) * math.sqrt(6 / (dim_in + width)))
            self.add_module(name, layer)
        self.weights_softmax = None

    def forward(self, query, key, value, mask=None):
        y, self.weights_softmax = scaled_dot_product_no_loop_batch(self.q(query), self.k(key), self.v(value), mask)
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads, dim_in, dim_out):
        super().__init__()
        self.num_heads = num_heads
        for number in range(num_heads):
            setattr(self, f"head{number}", SelfAttention(dim_in, dim_out, dim_out))
        self.out = nn.Linear(dim_out * num_heads, dim_in)

    def forward(self, query, key, value, mask=None):
        heads = [getattr(self, f"head{number}") for number in range(self.num_heads)]
        return self.out(torch.cat([head(query, key, value, mask) for head in heads], dim=2))


def get_subsequent_mask(seq):
    samples, length = seq.shape
    rows = [[[later > earlier for later in range(length)] for earlier in range(length)] for _ in range(samples)]
    return torch.tensor(rows)
