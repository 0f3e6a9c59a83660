"""Attention without masks: in one piece, with loops, and with one learned head.

Every decision (which product, which scale, which axis) has a line of its own, so that it can be read, pointed
at and changed alone. Masks are in `reference.masks`, several heads in `reference.multi_head`.

Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1.
"""

import math

import torch
from torch import Tensor, nn


def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Mix the values by how well each query matches each key.

    Args:
        query: [batch, query, dim].
        key: [batch, key, dim].
        value: [batch, key, value_dim].

    Returns:
        The output [batch, query, value_dim], and the weights [batch, query, key], whose rows sum to 1.

    Raises:
        RuntimeError: the sizes do not fit (raised by the products themselves).

    Source: Vaswani et al. 2017, section 3.2.1, equation 1.
    """
    dim = query.shape[-1]
    keys_as_columns = key.transpose(-2, -1)  # [batch, dim, key]
    scores = query @ keys_as_columns  # [batch, query, key]
    scores = scores / math.sqrt(dim)  # keeps the spread of the scores near 1 for any dim
    weights = torch.softmax(scores, dim=-1)  # over the keys; subtracts each row's maximum first
    output = weights @ value  # [batch, query, value_dim]
    return output, weights


def attention_with_loops(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Compute the same output for one sequence, one query and one key at a time.

    Args:
        query: [query, dim], without a batch axis.
        key: [key, dim].
        value: [key, value_dim].

    Returns:
        The output [query, value_dim].

    Raises:
        RuntimeError: the sizes do not fit (raised by the products themselves).

    Source: Vaswani et al. 2017, section 3.2.1, equation 1, written out for each element.
    """
    query_length, dim = query.shape
    key_length, value_dim = value.shape
    output = query.new_zeros(query_length, value_dim)
    for i in range(query_length):
        row = query.new_zeros(key_length)  # the scores of query i
        for j in range(key_length):
            score = (query[i] * key[j]).sum()
            row[j] = score / math.sqrt(dim)
        shares = torch.softmax(row, dim=0)  # the weights of query i: [key]
        output[i] = shares @ value
    return output


class SingleHeadAttention(nn.Module):
    """Attention between learned projections of its three inputs.

    Args:
        d_model: size of each input vector.
        d_head: size of each projected vector, and of each output vector.

    Source: Vaswani et al. 2017, section 3.2.2: one `head_i`, with biases added to its three projections.
    """

    def __init__(self, d_model: int, d_head: int) -> None:
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_head)
        self.k_proj = nn.Linear(d_model, d_head)
        self.v_proj = nn.Linear(d_model, d_head)

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Project each input with its own layer, then attend.

        Args:
            query: [batch, query, d_model].
            key: [batch, key, d_model].
            value: [batch, key, d_model].

        Returns:
            The output [batch, query, d_head], and the weights [batch, query, key].
        """
        projected_query = self.q_proj(query)
        projected_key = self.k_proj(key)
        projected_value = self.v_proj(value)
        return scaled_dot_product_attention(projected_query, projected_key, projected_value)
