"""Masked attention. Replace each `raise NotImplementedError` by your code; keep the names.

In this file a Boolean mask says what is allowed: True = may attend. In `multi_head.py` it is the other way
round.

Run the examples below with `python -m doctest masked.py`: silence means that they all agree.
"""

import torch


def attention_mask(
    query_length: int,
    key_length: int,
    key_lengths: torch.Tensor | None = None,
    is_causal: bool = False,
) -> torch.Tensor:
    """Say which keys each query may attend to.

    Args:
        query_length: L, the number of queries.
        key_length: S, the number of keys, padding included.
        key_lengths: int64, [B]. In sample b only the first key_lengths[b] keys are real, the others are
            padding and may not be attended to. None: every key is real.
        is_causal: if True, query i may attend to keys 0 to i only. Positions count from the start of both
            sequences (top-left alignment), also when L and S differ.

    Returns:
        mask: Boolean, True = may attend, broadcastable to [B, L, S]. A key that either rule forbids is
            forbidden.

    Raises:
        Nothing you need to raise yourself.

    Example: two samples with 3 and 1 real keys, two queries, causal. Query 0 sees key 0; query 1 would see
    keys 0 and 1, but in the second sample key 1 is padding.

    >>> mask = attention_mask(2, 3, key_lengths=torch.tensor([3, 1]), is_causal=True)
    >>> mask.expand(2, 2, 3).int()
    tensor([[[1, 0, 0],
             [1, 1, 0]],
    <BLANKLINE>
            [[1, 0, 0],
             [1, 0, 0]]], dtype=torch.int32)
    """
    raise NotImplementedError


def masked_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute scaled dot-product attention in which the mask has the last word.

    Args:
        query: [B, L, D].
        key: [B, S, D].
        value: [B, S, Dv].
        mask: broadcastable to [B, L, S], and left unchanged. Either Boolean (True = may attend), or
            floating: then it is added to the scaled scores, and -inf forbids. None allows everything.

    Returns:
        output: [B, L, Dv].
        weights: [B, L, S]; each row sums to 1, and the weight of a forbidden key is exactly 0.

    Raises:
        ValueError: some query may attend to nothing, whichever kind of mask says so.

    Example: the query is zero, so that all scores are 0. A Boolean mask forbids the second of three keys:
    the other two share the weight, and the output is (2 + 8) / 2 = 5. A floating mask forbids it too and
    adds ln 3 to the third score: e^0 is 1 and e^(ln 3) is 3, so the output is 1/4 * 2 + 3/4 * 8 = 6.5.

    >>> import math
    >>> query, key = torch.zeros(1, 1, 4), torch.zeros(1, 3, 4)
    >>> value = torch.tensor([[[2.0], [4.0], [8.0]]])
    >>> output, weights = masked_attention(query, key, value, torch.tensor([[[True, False, True]]]))
    >>> weights
    tensor([[[0.5000, 0.0000, 0.5000]]])
    >>> output
    tensor([[[5.]]])
    >>> output, weights = masked_attention(query, key, value, torch.tensor([[[0.0, -math.inf, math.log(3)]]]))
    >>> output.round(decimals=3)
    tensor([[[6.5000]]])
    """
    raise NotImplementedError
