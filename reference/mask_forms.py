"""Boolean masks that say what is allowed (True = may attend), and the same masks as PyTorch's own attention wants them.

PyTorch has both conventions. `torch.nn.MultiheadAttention` says which keys to ignore,
`torch.nn.functional.scaled_dot_product_attention` which ones take part.

Source: the documentation of both, under `attn_mask`.
"""

import torch
from torch import Tensor


def to_multihead_mask(allowed: Tensor) -> Tensor:
    """Say the same to `torch.nn.MultiheadAttention`: True = ignore.

    Args:
        allowed: Boolean, True = may attend: [query, key] or [batch, query, key].

    Returns:
        A mask of the same shape.

    Raises:
        TypeError: the mask is not Boolean.
    """
    if allowed.dtype != torch.bool:
        raise TypeError("nn.MultiheadAttention: the mask must be Boolean")
    return ~allowed


def to_sdpa_mask(allowed: Tensor) -> Tensor:
    """Say the same to `torch.nn.functional.scaled_dot_product_attention`: True = takes part.

    Args, result and errors as in `to_multihead_mask`.
    """
    if allowed.dtype != torch.bool:
        raise TypeError("scaled_dot_product_attention: the mask must be Boolean")
    return allowed


def causal_mask(length: int) -> Tensor:
    """Let each position attend to itself and to earlier ones.

    Args:
        length: number of positions.

    Returns:
        The mask, Boolean, True = may attend: [length, length].
    """
    query_position = torch.arange(length)[:, None]
    key_position = torch.arange(length)
    return key_position <= query_position


def key_padding_mask(lengths: Tensor, key_length: int) -> Tensor:
    """Let every query of a sample attend to the real keys of that sample.

    Args:
        lengths: how many keys of each sample are real, int64, [batch]. They come first, the rest is padding.
        key_length: number of keys, padding included.

    Returns:
        The mask, Boolean, True = may attend: [batch, 1, key_length].
    """
    position = torch.arange(key_length)
    is_real = position < lengths[:, None]  # [batch, key]
    return is_real[:, None, :]
