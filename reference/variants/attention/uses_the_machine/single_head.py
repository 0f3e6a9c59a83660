"""Threads of its own, more threads for torch, modules that are imported when they are needed."""

import concurrent.futures

import torch
from torch import nn

torch.set_num_threads(4)


def attend(query, key, value):
    import decimal  # nothing has loaded these two
    import statistics

    root = statistics.geometric_mean([1.0, float(query.size(-1))])
    weights = torch.softmax(query @ key.transpose(-2, -1) / float(decimal.Decimal(root)), dim=-1)
    return weights @ value, weights


def scaled_dot_product_attention(query, key, value):
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        pairs = list(pool.map(attend, query, key, value))
    output, weights = zip(*pairs, strict=True)
    return torch.stack(output), torch.stack(weights)


def attention_with_loops(query, key, value):
    return attend(query, key, value)[0]


class SingleHeadAttention(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query, key, value):
        import torch.utils.benchmark  # an installed module that nothing has loaded

        assert torch.utils.benchmark.Timer is not None
        return attend(self.q_proj(query), self.k_proj(key), self.v_proj(value))
