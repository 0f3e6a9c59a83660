"""Attention with several heads, each of which is a module of its own with full-width inputs, kept in a list.

`reference.multi_head` computes all heads at once, each on a slice of the projections. Here nothing is cut up: a head
has projections of any width, and the outputs of the heads are laid side by side. Masks as in `reference.two_loops`:
True = masked.

Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.2.2.
"""

import math

import torch
from torch import Tensor, nn

from reference.two_loops import scaled_dot_product_no_loop_batch


class SelfAttention(nn.Module):
    """Attention between learned projections of its three inputs.

    Keeps the weights of its last call in `weights_softmax`, [sample, query, key].

    Args:
        dim_in: width of the inputs.
        dim_q: width of the projected queries and keys.
        dim_v: width of the projected values, and of the output.

    Source: Vaswani et al. 2017, section 3.2.2: one `head_i`, with biases; Glorot and Bengio 2010, equation 16, for the
    range that the weights begin in.
    """

    def __init__(self, dim_in: int, dim_q: int, dim_v: int) -> None:
        super().__init__()
        self.q = nn.Linear(dim_in, dim_q)
        self.k = nn.Linear(dim_in, dim_q)
        self.v = nn.Linear(dim_in, dim_v)
        self.weights_softmax: Tensor | None = None
        for layer in (self.q, self.k, self.v):
            dim_out, dim_before = layer.weight.shape
            bound = math.sqrt(6 / (dim_before + dim_out))
            nn.init.uniform_(layer.weight, -bound, bound)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        """Project each input with its own layer, then attend.

        Args:
            query: [sample, position, dim_in].
            key: [sample, position, dim_in].
            value: [sample, position, dim_in].
            mask: Boolean, [sample, query, key], True = masked. None masks nothing.

        Returns:
            The output [sample, position, dim_v].
        """
        projected_query = self.q(query)
        projected_key = self.k(key)
        projected_value = self.v(value)
        mixed, weights = scaled_dot_product_no_loop_batch(projected_query, projected_key, projected_value, mask)
        self.weights_softmax = weights
        return mixed


class MultiHeadAttention(nn.Module):
    """Several heads beside each other, and a layer that mixes what they found.

    Args:
        num_heads: number of heads.
        dim_in: width of the inputs and of the output.
        dim_out: width of what each head gives.

    Source: Vaswani et al. 2017, section 3.2.2.
    """

    def __init__(self, num_heads: int, dim_in: int, dim_out: int) -> None:
        super().__init__()
        self.heads = nn.ModuleList([SelfAttention(dim_in, dim_out, dim_out) for _ in range(num_heads)])
        self.projection = nn.Linear(num_heads * dim_out, dim_in)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        """Let every head attend, lay the outputs side by side, mix them.

        Args and shapes as in `SelfAttention.forward`.

        Returns:
            The output [sample, position, dim_in].
        """
        found = [head(query, key, value, mask) for head in self.heads]
        joined = torch.cat(found, dim=-1)  # [sample, position, num_heads * dim_out], the first head first
        output: Tensor = self.projection(joined)
        return output


def get_subsequent_mask(seq: Tensor) -> Tensor:
    """Say which positions come after each position of a batch of sequences.

    Args:
        seq: [sample, position], of any dtype; only its shape counts.

    Returns:
        The mask [sample, query, key], Boolean, True = masked: above the diagonal.
    """
    samples, length = seq.shape
    query_position = torch.arange(length)[:, None]
    key_position = torch.arange(length)
    is_later = key_position > query_position  # [query, key]
    return is_later.expand(samples, length, length)
