"""Attention with a single head. Replace each `raise NotImplementedError` by your code; keep the names.

Run the examples below with `python -m doctest single_head.py`: silence means that they all agree.
"""

import torch
from torch import nn


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """For each query, average the values by how well the query matches their keys.

    Equation 1 of "Attention Is All You Need" (Vaswani et al. 2017, section 3.2.1), for a batch.

    Args:
        query: [B, L, D], L queries of size D in each of B samples.
        key: [B, S, D], one for each of S positions. S need not equal L.
        value: [B, S, Dv], one for each key. Dv need not equal D.

    Returns:
        output: [B, L, Dv], one vector per query.
        weights: [B, L, S]; weights[b, i, j] says how much query i takes from value j. Each row sums to 1.
        Both have the dtype of `query`. Very large scores must not give inf or nan.

    Raises:
        Nothing you need to raise yourself.

    Example: one query, two keys, D = 4. The scores ln 3 and 0 give the weights 3/4 and 1/4, because e^(ln
    3) is 3 and e^0 is 1; the output is 3/4 * 4 + 1/4 * 8 = 5.

    >>> import math
    >>> query = torch.tensor([[[2 * math.log(3), 0.0, 0.0, 0.0]]])
    >>> key = torch.tensor([[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]])
    >>> value = torch.tensor([[[4.0], [8.0]]])
    >>> output, weights = scaled_dot_product_attention(query, key, value)
    >>> weights.round(decimals=3)
    tensor([[[0.7500, 0.2500]]])
    >>> output.round(decimals=3)
    tensor([[[5.]]])
    """
    raise NotImplementedError


def attention_with_loops(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
) -> torch.Tensor:
    """Compute the same output for one sequence, one query and one key at a time.

    Slow on purpose: write it with loops, so that every number can be printed and understood.

    Args:
        query: [L, D]. There is no batch axis here.
        key: [S, D].
        value: [S, Dv].

    Returns:
        output: [L, Dv], with the dtype of `query`. Gradients must flow back to all three inputs.

    Raises:
        Nothing you need to raise yourself.

    Example: the first query matches both keys equally, so it gets their plain average (4 + 8) / 2 = 6; the
    second is the query of the example above.

    >>> import math
    >>> query = torch.tensor([[0.0, 0.0, 0.0, 0.0], [2 * math.log(3), 0.0, 0.0, 0.0]])
    >>> key = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    >>> value = torch.tensor([[4.0], [8.0]])
    >>> attention_with_loops(query, key, value).round(decimals=3)
    tensor([[6.],
            [5.]])
    """
    raise NotImplementedError


class SingleHeadAttention(nn.Module):
    """Attention between learned projections of the three inputs.

    Has exactly three layers: the `nn.Linear` modules `q_proj`, `k_proj` and `v_proj`, each with a bias, for
    query, key and value.

    Example: with a query of zeros and key weights of zero, both positions count the same. The value layer
    adds up the two elements and 1: it makes 1 + 2 + 1 = 4 and 3 + 4 + 1 = 8, whose average is 6.

    >>> attention = SingleHeadAttention(d_model=2, d_head=1)
    >>> for layer in (attention.q_proj, attention.k_proj):
    ...     _ = nn.init.zeros_(layer.weight), nn.init.zeros_(layer.bias)
    >>> _ = nn.init.ones_(attention.v_proj.weight), nn.init.ones_(attention.v_proj.bias)
    >>> query = torch.tensor([[[0.0, 0.0]]])
    >>> sequence = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])
    >>> output, weights = attention(query, sequence, sequence)
    >>> weights.detach()
    tensor([[[0.5000, 0.5000]]])
    >>> output.detach()
    tensor([[[6.]]])
    """

    def __init__(self, d_model: int, d_head: int) -> None:
        """Create the three layers.

        Args:
            d_model: size of each input vector.
            d_head: size of each projected vector, and of each output vector.
        """
        raise NotImplementedError

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Project each input with its own layer, then attend.

        Args:
            query: [B, L, d_model].
            key: [B, S, d_model].
            value: [B, S, d_model]. The three inputs may be three unrelated tensors.

        Returns:
            output: [B, L, d_head].
            weights: [B, L, S].
        """
        raise NotImplementedError
