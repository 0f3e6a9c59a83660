"""Attention in which some queries may not see some keys: how to say so, and how to obey.

Masks here say what is allowed: True = may attend, as for `torch.nn.functional.scaled_dot_product_attention`.
The padding mask of `torch.nn.MultiheadAttention` says the opposite, True = ignored, and so does that of
`reference.multi_head`.

Source: Vaswani et al. 2017, section 3.2.3 ("masking out [...] all values in the input of the softmax").
"""

import math

import torch
from torch import Tensor


def attention_mask(
    query_length: int,
    key_length: int,
    key_lengths: Tensor | None = None,
    is_causal: bool = False,
) -> Tensor:
    """Say which keys each query may attend to.

    Args:
        query_length: number of queries.
        key_length: number of keys, padding included.
        key_lengths: how many keys of each sample are real, int64, [batch]; the rest is padding. None: all.
        is_causal: hide every key whose position is after the query's. Positions count from the start of both
            sequences (top-left alignment): query 0 sees key 0 only, whatever the lengths.

    Returns:
        The mask, Boolean, True = may attend: [1 or batch, query, key].
    """
    mask = torch.ones(1, query_length, key_length, dtype=torch.bool)
    if is_causal:
        is_visible = causal_mask(query_length, key_length)  # [query, key]
        mask = mask & is_visible
    if key_lengths is not None:
        key_position = torch.arange(key_length)
        is_real = key_position < key_lengths[:, None]  # [batch, key]
        is_real = is_real[:, None, :]  # the same keys for every query of a sample
        mask = mask & is_real
    return mask


def causal_mask(query_length: int, key_length: int) -> Tensor:
    """Say which keys are not later than each query.

    Args:
        query_length: number of queries.
        key_length: number of keys.

    Returns:
        The mask, Boolean, True = may attend: [query, key]. Query i sees keys 0 to i, whatever the lengths.
    """
    query_position = torch.arange(query_length)[:, None]
    key_position = torch.arange(key_length)
    return key_position <= query_position


def masked_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Attend where the mask allows it; a forbidden key gets a weight of exactly 0.

    Args:
        query: [batch, query, dim].
        key: [batch, key, dim].
        value: [batch, key, value_dim].
        mask: Boolean (True = may attend), or floating (added to the scaled scores; -inf forbids);
            broadcastable to [batch, query, key]. None allows everything.

    Returns:
        The output [batch, query, value_dim], and the weights [batch, query, key].

    Raises:
        ValueError: some query may attend to nothing. Its weights would be 0/0.

    Source: Vaswani et al. 2017, section 3.2.1, equation 1, and section 3.2.3 for the mask.
    """
    if mask is not None:
        is_allowed = mask if mask.dtype == torch.bool else mask != -math.inf
        has_a_key = is_allowed.any(dim=-1)  # of each query
        if not has_a_key.all():
            raise ValueError("a query may attend to nothing: its row of the mask forbids every key")
    return attend(query, key, value, mask)


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Compute attention under a mask that leaves every query a key; a row without one gives NaN.

    The score of a forbidden key becomes -inf before the softmax, so that the weights of the allowed ones
    still sum to 1.

    Args and shapes as in `masked_attention`. Further axes (heads) may stand between batch and query.

    Returns:
        The output [batch, query, value_dim], and the weights [batch, query, key].
    """
    dim = query.shape[-1]
    keys_as_columns = key.transpose(-2, -1)  # [batch, dim, key]
    scores = query @ keys_as_columns  # [batch, query, key]
    scores = scores / math.sqrt(dim)
    if mask is not None:
        if mask.dtype == torch.bool:
            is_forbidden = ~mask
            scores = scores.masked_fill(is_forbidden, -math.inf)
        else:
            scores = scores + mask
    weights = torch.softmax(scores, dim=-1)  # exp(-inf) is exactly 0
    output = weights @ value  # [batch, query, value_dim]
    return output, weights
