"""Attention and masks. Replace each `raise NotImplementedError` by your code; keep the names.

Every mask in this file says what is allowed: True = may attend. The one exception is what `to_multihead_mask` returns.

Run the examples below with `python -m doctest attention.py`: silence means that they all agree.
"""

import torch
from torch import nn


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    allowed: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute scaled dot-product attention under a mask, and refuse what has no answer.

    Args:
        query: [B, L, D].
        key: [B, S, D].
        value: [B, S, Dv].
        allowed: Boolean, True = may attend, broadcastable to [B, L, S], and left unchanged. None allows everything.

    Returns:
        output: [B, L, Dv].
        weights: [B, L, S]; each row sums to 1, and the weight of a forbidden key is exactly 0.

    Raises:
        ValueError: wrong number of axes, of samples, of keys and values, or wrong width; no key, or no width; a
            score or a value that is infinite or NaN; a mask that cannot be broadcast; a query with nothing allowed.
        TypeError: the mask is not Boolean.

    Example: the query is zero, so that all scores are 0. The mask forbids the second of three keys: the other two
    share the weight, and the output is (2 + 8) / 2 = 5.

    >>> query, key = torch.zeros(1, 1, 4), torch.zeros(1, 3, 4)
    >>> value = torch.tensor([[[2.0], [4.0], [8.0]]])
    >>> output, weights = scaled_dot_product_attention(query, key, value, torch.tensor([[[True, False, True]]]))
    >>> weights
    tensor([[[0.5000, 0.0000, 0.5000]]])
    >>> output
    tensor([[[5.]]])
    """
    raise NotImplementedError


def causal_mask(T: int) -> torch.Tensor:
    """Let each of T positions attend to itself and to earlier ones.

    Returns:
        mask: Boolean, [T, T]. Row i says what position i may attend to.

    >>> causal_mask(3).int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)
    """
    raise NotImplementedError


def key_padding_mask(lengths: torch.Tensor, S: int) -> torch.Tensor:
    """Let every query of a sample attend to the real keys of that sample.

    Args:
        lengths: int64, [B], between 1 and S. In sample b only the first lengths[b] keys are real.
        S: the number of keys, padding included.

    Returns:
        mask: Boolean, True = may attend (a real key), [B, 1, S].

    >>> key_padding_mask(torch.tensor([3, 1]), 3).int()
    tensor([[[1, 1, 1]],
    <BLANKLINE>
            [[1, 0, 0]]], dtype=torch.int32)
    """
    raise NotImplementedError


def to_multihead_mask(allowed: torch.Tensor) -> torch.Tensor:
    """Say the same to `nn.MultiheadAttention`, as its `attn_mask`: there, True = ignore.

    Args:
        allowed: Boolean, True = may attend, [L, S] or [B, L, S].

    Returns:
        mask: Boolean, of the same shape.

    Raises:
        TypeError: the mask is not Boolean.

    >>> to_multihead_mask(torch.tensor([[True, False, True]]))
    tensor([[False,  True, False]])
    """
    raise NotImplementedError


def to_sdpa_mask(allowed: torch.Tensor) -> torch.Tensor:
    """Say the same to `F.scaled_dot_product_attention`, as its `attn_mask`: there, True = takes part.

    Args:
        allowed: Boolean, True = may attend, [L, S] or [B, L, S].

    Returns:
        mask: Boolean, of the same shape.

    Raises:
        TypeError: the mask is not Boolean.

    >>> to_sdpa_mask(torch.tensor([[True, False, True]]))
    tensor([[ True, False,  True]])
    """
    raise NotImplementedError


class Attention(nn.Module):
    """The same attention as a module, with dropout of the weights in training.

    Args:
        dropout: probability with which each weight is dropped, in training mode only. The weights that stay are
            divided by 1 - dropout.

    Example: in evaluation nothing is dropped.

    >>> attend = Attention(dropout=0.5).eval()
    >>> output, weights = attend(torch.zeros(1, 1, 4), torch.zeros(1, 2, 4), torch.tensor([[[2.0], [4.0]]]))
    >>> output
    tensor([[[3.]]])
    """

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        allowed: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Attend, as `scaled_dot_product_attention` does.

        Returns:
            output: [B, L, Dv], made of the weights that are returned.
            weights: [B, L, S], those that were dropped being 0.
        """
        raise NotImplementedError
