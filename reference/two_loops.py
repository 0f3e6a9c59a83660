"""The same attention three times: one sequence with two loops, a batch with two loops, a batch without a loop.

Queries, keys and values have one length and one width here. A mask says what is hidden: True = masked, the opposite of
`reference.masks`; a masked score becomes -1e9 and not -inf, so that a query from which everything is hidden sees
everything alike. Modules made of it are in `reference.head_list`.

Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1.
"""

import math

import torch
from torch import Tensor


def scaled_dot_product_two_loop_single(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attend within one sequence, a score at a time.

    Args:
        query: [position, width].
        key: [position, width].
        value: [position, width].

    Returns:
        The output [position, width].

    Source: Vaswani et al. 2017, section 3.2.1, equation 1, written out for each score.
    """
    length, width = query.shape
    scores = query.new_zeros(length, length)  # [query, key]
    for i in range(length):
        for j in range(length):
            score = (query[i] * key[j]).sum()
            scores[i, j] = score / math.sqrt(width)
    shares = torch.softmax(scores, dim=-1)  # of each query, over the keys
    return shares @ value


def scaled_dot_product_two_loop_batch(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attend within each sequence of a batch: the loops run over positions, and all samples go along.

    Args:
        query: [sample, position, width].
        key: [sample, position, width].
        value: [sample, position, width].

    Returns:
        The output [sample, position, width].

    Source: Vaswani et al. 2017, section 3.2.1, equation 1, written out for each pair of positions.
    """
    samples, positions, width = query.shape
    table = query.new_zeros(samples, positions, positions)  # [sample, query, key]
    for i in range(positions):
        for j in range(positions):
            entry = (query[:, i] * key[:, j]).sum(dim=-1)  # one number for each sample
            table[:, i, j] = entry / math.sqrt(width)
    portions = torch.softmax(table, dim=-1)  # of each query, over the keys
    return portions @ value


def scaled_dot_product_no_loop_batch(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attend within each sequence of a batch, where the mask lets it.

    Args:
        query: [sample, position, width].
        key: [sample, position, width].
        value: [sample, position, value_width].
        mask: Boolean, [sample, query, key], True = masked. None masks nothing.

    Returns:
        The output [sample, position, value_width], and the weights [sample, query, key], whose rows sum to 1. A
        masked key has a weight of 0, unless all keys of its query are masked: then all weights are equal.

    Source: Vaswani et al. 2017, section 3.2.1, equation 1, and section 3.2.3 for the mask.
    """
    width = query.shape[-1]
    products = query @ key.transpose(-2, -1)  # [sample, query, key]
    logits = products / math.sqrt(width)
    if mask is not None:
        logits = logits.masked_fill(mask, -1e9)
    weights_softmax = torch.softmax(logits, dim=-1)  # of each query, over the keys
    y = weights_softmax @ value
    return y, weights_softmax
