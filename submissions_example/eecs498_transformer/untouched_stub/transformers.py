"""Attention for a transformer. Replace each `raise NotImplementedError` by your code; keep the names.

In this file a mask says what is hidden: True = masked.

Run the examples below with `python -m doctest transformers.py`: silence means that they all agree.
"""

import torch
from torch import nn


def scaled_dot_product_two_loop_single(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Compute scaled dot-product attention for one sequence, with two loops over its positions.

    Args:
        query: [K, M], K positions of width M. There is no axis for samples here.
        key: [K, M].
        value: [K, M].

    Returns:
        y: [K, M], with the dtype of `query`. Gradients must flow back to all three inputs.

    Example: three positions, whose values are (1, 0), (0, 2) and (1, 1). The keys are such that the first query has the
    scores ln .05, ln .80 and ln .15, so that it reads with the weights .05, .80 and .15 and gets (.05 + .15, 1.60 +
    .15) = (.20, 1.75). The second query is 0 and gets the plain mean; the third gives the weights 1/3, 1/3 and 1/3 too.

    >>> import math
    >>> query = math.sqrt(2) * torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    >>> key = torch.tensor([[math.log(0.05), 7.0], [math.log(0.80), 7.0], [math.log(0.15), 7.0]])
    >>> value = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    >>> scaled_dot_product_two_loop_single(query, key, value).round(decimals=3)
    tensor([[0.2000, 1.7500],
            [0.6670, 1.0000],
            [0.6670, 1.0000]])
    """
    raise NotImplementedError


def scaled_dot_product_two_loop_batch(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Compute the same for every sample of a batch, still with two loops over the positions, and none over the samples.

    Args:
        query: [N, K, M], N samples of K positions of width M.
        key: [N, K, M].
        value: [N, K, M].

    Returns:
        y: [N, K, M], with the dtype of `query`.

    Example: two samples of one position each. Who has one key only gets its value, whatever the score is.

    >>> one_position = torch.tensor([[[3.0, 4.0]], [[5.0, 6.0]]])
    >>> scaled_dot_product_two_loop_batch(one_position, one_position, one_position)
    tensor([[[3., 4.]],
    <BLANKLINE>
            [[5., 6.]]])
    """
    raise NotImplementedError


def scaled_dot_product_no_loop_batch(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute the same for a batch without any loop, and let a mask hide keys.

    Args:
        query: [N, K, M].
        key: [N, K, M].
        value: [N, K, M].
        mask: Boolean, [N, K, K], True = masked: element [n, i, j] says whether query i of sample n is kept from key j.
            A masked score is replaced by -1e9 before the softmax. None masks nothing.

    Returns:
        y: [N, K, M].
        weights_softmax: [N, K, K], the weights that the values were mixed with; each row sums to 1.

    Example: the queries are 0, so that all scores are 0. From the first query the second key is hidden; from the second
    query both keys are, so that both scores are -1e9 and the weights are equal again.

    >>> query, key = torch.zeros(1, 2, 3), torch.ones(1, 2, 3)
    >>> value = torch.tensor([[[2.0, 0.0, 2.0], [4.0, 6.0, 8.0]]])
    >>> mask = torch.tensor([[[False, True], [True, True]]])
    >>> y, weights_softmax = scaled_dot_product_no_loop_batch(query, key, value, mask)
    >>> weights_softmax
    tensor([[[1.0000, 0.0000],
             [0.5000, 0.5000]]])
    >>> y
    tensor([[[2., 0., 2.],
             [3., 3., 5.]]])
    """
    raise NotImplementedError


class SelfAttention(nn.Module):
    """Attention between learned projections of the three inputs.

    Has three layers, the `nn.Linear` modules `q`, `k` and `v`, each with a bias: `q` and `k` from dim_in to dim_q, `v`
    from dim_in to dim_v. The weight of each layer begins uniformly distributed between -c and c, with c = sqrt(6 /
    (D_in + D_out)) for the sizes of that layer. How the biases begin is up to you.

    After a call the attribute `weights_softmax` holds the weights of that call, [N, K, K].

    Example: layers that change nothing, and a query of 0: the output is the mean of the two values.

    >>> attention = SelfAttention(dim_in=2, dim_q=2, dim_v=2)
    >>> for layer in (attention.q, attention.k, attention.v):
    ...     _ = nn.init.eye_(layer.weight), nn.init.zeros_(layer.bias)
    >>> sequence = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])
    >>> attention(torch.zeros(1, 2, 2), sequence, sequence).detach()
    tensor([[[2., 3.],
             [2., 3.]]])
    >>> attention.weights_softmax.detach()
    tensor([[[0.5000, 0.5000],
             [0.5000, 0.5000]]])
    """

    def __init__(self, dim_in: int, dim_q: int, dim_v: int) -> None:
        """Create the three layers.

        Args:
            dim_in: width of the inputs.
            dim_q: width of the projected queries and keys.
            dim_v: width of the projected values, and of the output.
        """
        super().__init__()
        raise NotImplementedError

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Project each input with its own layer, then attend.

        Args:
            query: [N, K, dim_in].
            key: [N, K, dim_in].
            value: [N, K, dim_in]. The three inputs may be three unrelated tensors.
            mask: Boolean, [N, K, K], True = masked, as above.

        Returns:
            y: [N, K, dim_v].
        """
        raise NotImplementedError


class MultiHeadAttention(nn.Module):
    """Several heads beside each other, and one layer that mixes what they found.

    The heads are num_heads different modules SelfAttention(dim_in, dim_out, dim_out) in an `nn.ModuleList`. Their
    outputs are concatenated along the last axis, in the order of the list, and one `nn.Linear`, with bias, leads from
    num_heads * dim_out back to dim_in. You choose the names of the list and of the layer.

    Example: whatever the weights are, the output has the shape of the query.

    >>> attention = MultiHeadAttention(num_heads=2, dim_in=4, dim_out=3)
    >>> sequence = torch.ones(5, 6, 4)
    >>> attention(sequence, sequence, sequence).shape
    torch.Size([5, 6, 4])
    >>> sum(parameter.numel() for parameter in attention.parameters())
    118
    """

    def __init__(self, num_heads: int, dim_in: int, dim_out: int) -> None:
        """Create the heads and the layer.

        Args:
            num_heads: number of heads.
            dim_in: width of the inputs and of the output.
            dim_out: width of what each head gives.
        """
        super().__init__()
        raise NotImplementedError

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Attend with every head, concatenate, mix.

        Args:
            query: [N, K, dim_in].
            key: [N, K, dim_in].
            value: [N, K, dim_in].
            mask: Boolean, [N, K, K], True = masked. It holds for every head.

        Returns:
            y: [N, K, dim_in].
        """
        raise NotImplementedError


def get_subsequent_mask(seq: torch.Tensor) -> torch.Tensor:
    """Make the mask that hides the future: no position sees a later one.

    Args:
        seq: [N, K], a batch of sequences of whole numbers. Only its shape counts.

    Returns:
        mask: Boolean, [N, K, K], True = masked: True above the diagonal, False on it and below.

    Example: one sequence of three positions.

    >>> get_subsequent_mask(torch.tensor([[7, 8, 9]])).int()
    tensor([[[0, 1, 1],
             [0, 0, 1],
             [0, 0, 0]]], dtype=torch.int32)
    """
    raise NotImplementedError
