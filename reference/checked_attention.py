"""Attention that refuses what it cannot answer, under a Boolean mask: as a function, and as a module with dropout.

A mask says what is allowed: True = may attend. Each condition has a line and an error of its own.

Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1; dropout of the weights as in
`torch.nn.MultiheadAttention`.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    allowed: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Mix the values by how well each query matches each key that it may attend to.

    Args:
        query: [batch, query, dim].
        key: [batch, key, dim].
        value: [batch, key, value_dim].
        allowed: Boolean (True = may attend), broadcastable to [batch, query, key]. None allows everything.

    Returns:
        The output [batch, query, value_dim], and the weights [batch, query, key].

    Raises:
        ValueError: the tensors do not fit, have no key or no width; a score or a value is not finite; the mask does
            not fit, or leaves a query nothing.
        TypeError: the mask is not Boolean.
    """
    weights = attention_weights(query, key, value, allowed)
    output = weights @ value  # [batch, query, value_dim]
    return output, weights


def attention_weights(query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None) -> Tensor:
    """Compute the weights of an attention whose arguments are checked first.

    Args and errors as in `scaled_dot_product_attention`.

    Returns:
        The weights [batch, query, key]; that of a forbidden key is exactly 0.
    """
    must_fit(query, key, value)
    dim = query.shape[-1]
    keys_as_columns = key.transpose(-2, -1)  # [batch, dim, key]
    scores = query @ keys_as_columns  # [batch, query, key]
    scores = scores / math.sqrt(dim)
    if not torch.isfinite(scores).all():  # products of finite numbers overflow, too
        raise ValueError("a score is infinite or not a number")
    if not torch.isfinite(value).all():
        raise ValueError("a value is infinite or not a number")
    if allowed is not None:
        must_be_mask(allowed, scores.shape)
        is_forbidden = ~allowed
        scores = scores.masked_fill(is_forbidden, -math.inf)
    return torch.softmax(scores, dim=-1)  # exp(-inf) is exactly 0


def must_fit(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Raise ValueError where the tensors are no queries, keys and values of one attention."""
    if not query.ndim == key.ndim == value.ndim == 3:
        raise ValueError("query, key and value must have three axes")
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:  # one sample would be broadcast
        raise ValueError("query, key and value must have as many samples")
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("query and key must be of one width")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("there must be a value for each key")
    if key.shape[-2] == 0:
        raise ValueError("there must be a key")
    if query.shape[-1] == 0:
        raise ValueError("query and key must have a width")


def must_be_mask(allowed: Tensor, shape: torch.Size) -> None:
    """Raise where a tensor is no mask for scores of that shape, [batch, query, key].

    Raises:
        TypeError: it is not Boolean.
        ValueError: it cannot be broadcast to the scores, or leaves a query nothing.
    """
    if allowed.dtype != torch.bool:
        raise TypeError("the mask must be Boolean")
    pairs = zip(reversed(allowed.shape), reversed(shape), strict=False)
    if allowed.ndim > 3 or not all(length in (1, wanted) for length, wanted in pairs):
        raise ValueError("the mask does not fit the scores")
    has_a_key = allowed.any(dim=-1)  # of each query
    if not has_a_key.all():
        raise ValueError("a query may attend to nothing")


class Attention(nn.Module):
    """The same, dropping some of the weights in training.

    Args:
        dropout: probability with which a weight is dropped. Those that are left are divided by 1 - dropout.
    """

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = dropout

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend; arguments, results and errors as in `scaled_dot_product_attention`.

        The weights that are returned are those that the output is made of.
        """
        weights = attention_weights(query, key, value, allowed)
        kept = F.dropout(weights, self.dropout, self.training)  # and divided by 1 - dropout
        mixed = kept @ value  # [batch, query, value_dim]
        return mixed, kept


def fused_attention(query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None = None) -> tuple[Tensor, None]:
    """Call the library's function on the same arguments: a second opinion on what is right.

    Returns:
        The output [batch, query, value_dim], and None: the library does not show its weights. It refuses nothing.
    """
    return F.scaled_dot_product_attention(query, key, value, attn_mask=allowed), None
