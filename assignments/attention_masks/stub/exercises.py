"""What attention costs, and what order means to it. Replace each `raise NotImplementedError`; keep the names.

Counting: a product of matrices [m, k] and [k, n] takes 2 * m * n * k operations, since each multiply-add counts as two.
Products of matrices are counted and nothing else. D is the size of a token, all H heads together; H divides D.

Run the examples below with `python -m doctest exercises.py`: silence means that they all agree.
"""

import torch


def cross_attention_shapes(
    batch: int, queries: int, keys: int, dim: int, value_dim: int
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Shapes on the way of a cross-attention with one head.

    Returns:
        transposed_key: of the key as it stands on the right of `query @ ...`.
        scores: of the scores of all samples.
        output: of the output.

    >>> cross_attention_shapes(1, 1, 3, 1, 2)
    ((1, 1, 3), (1, 1, 3), (1, 1, 2))
    """
    raise NotImplementedError


def scores_memory(batch: int, tokens: int, dim: int, heads: int, element_bytes: int) -> int:
    """Bytes that the scores of a multi-head self-attention take: those of all heads, of all samples.

    Args:
        element_bytes: bytes of one element.

    Example: two tokens have four scores.

    >>> scores_memory(1, 2, 1, 1, 4)
    16
    """
    raise NotImplementedError


def attention_flops(batch: int, tokens: int, dim: int, heads: int) -> int:
    """Operations of a multi-head self-attention: four projections from D to D, the scores, the weighted sums.

    Example: one token of one element. Each of the six products is one multiply-add.

    >>> attention_flops(1, 1, 1, 1)
    12
    """
    raise NotImplementedError


def feed_forward_flops(batch: int, tokens: int, dim: int, heads: int) -> int:
    """Operations of a feed-forward part of two layers, from D to 4 D and back.

    Example: one token of one element. Each layer has four weights.

    >>> feed_forward_flops(1, 1, 1, 1)
    16
    """
    raise NotImplementedError


def dominant_part(batch: int, tokens: int, dim: int, heads: int) -> str:
    """Which part takes more operations: "attention" or "feed-forward"? Not asked where both take as many.

    >>> dominant_part(1, 1, 1, 1)
    'feed-forward'
    """
    raise NotImplementedError


def attention_dominates_from(dim: int) -> int:
    """The least number of tokens with which attention takes more operations than the feed-forward part."""
    raise NotImplementedError


def reorder_tokens(
    output: torch.Tensor, weights: torch.Tensor, order: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """What a self-attention without a mask gives when its tokens are reordered, as by `tokens[:, order]`.

    Args:
        output: [B, T, D], what it gave before.
        weights: [B, T, T], what it gave before.
        order: int64, [T].

    Returns:
        new_output: [B, T, D].
        new_weights: [B, T, T].

    Example: two tokens change places.

    >>> output, weights = torch.tensor([[[10.0], [20.0]]]), torch.tensor([[[0.1, 0.9], [0.3, 0.7]]])
    >>> reorder_tokens(output, weights, torch.tensor([1, 0]))[1]
    tensor([[[0.7000, 0.3000],
             [0.9000, 0.1000]]])
    """
    raise NotImplementedError


def reorder_source(
    output: torch.Tensor, weights: torch.Tensor, order: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """What a cross-attention without a mask gives when its keys and values are reordered, and its queries are not.

    Args:
        output: [B, L, Dv], what it gave before.
        weights: [B, L, S], what it gave before.
        order: int64, [S].

    Returns:
        new_output: [B, L, Dv].
        new_weights: [B, L, S].
    """
    raise NotImplementedError


def reorder_mask(allowed: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """The mask with which reordered tokens attend to the same tokens as before.

    Args:
        allowed: Boolean, True = may attend, [T, T].
        order: int64, [T].

    Returns:
        mask: Boolean, [T, T].
    """
    raise NotImplementedError


def survives_reordering(allowed: torch.Tensor, order: torch.Tensor) -> bool:
    """Whether outputs follow their tokens, whatever these are, when the mask is left as it is.

    Args:
        allowed: Boolean, True = may attend, [T, T].
        order: int64, [T].

    Example: where everything is allowed, nothing depends on the order.

    >>> survives_reordering(torch.ones(2, 2, dtype=torch.bool), torch.tensor([1, 0]))
    True
    """
    raise NotImplementedError
