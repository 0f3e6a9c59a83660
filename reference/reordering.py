"""What becomes of attention when tokens change places: outputs follow their tokens, and a mask stays where it is.

An order lists old positions: the token that was at `order[i]` comes to position i, as in `tokens[:, order]`.

Source: Lee et al. 2019, "Set Transformer", section 3: attention without positions is permutation equivariant.
"""

import torch
from torch import Tensor


def reorder_tokens(output: Tensor, weights: Tensor, order: Tensor) -> tuple[Tensor, Tensor]:
    """Tell what a self-attention without a mask gives when its tokens are reordered.

    Args:
        output: [batch, token, dim], as it was before.
        weights: [batch, token, token].
        order: [token], int64.

    Returns:
        Output and weights of the reordered tokens.
    """
    moved_output = output[:, order]
    moved_queries = weights[:, order]
    moved_weights = moved_queries[:, :, order]  # each token is a query and a key
    return moved_output, moved_weights


def reorder_source(output: Tensor, weights: Tensor, order: Tensor) -> tuple[Tensor, Tensor]:
    """Tell what a cross-attention gives when its keys and values are reordered, and its queries are not.

    Args:
        output: [batch, query, value_dim], as it was before.
        weights: [batch, query, key].
        order: [key], int64.

    Returns:
        Output and weights of the reordered source.
    """
    same_output = output  # a sum has no order
    shares = weights[:, :, order]
    return same_output, shares


def reorder_mask(allowed: Tensor, order: Tensor) -> Tensor:
    """Make the mask with which reordered tokens attend to the same tokens as before.

    Args:
        allowed: Boolean, True = may attend, [token, token].
        order: [token], int64.
    """
    rows = allowed[order]
    return rows[:, order]


def survives_reordering(allowed: Tensor, order: Tensor) -> bool:
    """Tell whether outputs follow their tokens, whatever these are, when the mask is left as it was.

    Args as in `reorder_mask`.
    """
    turned = allowed[order]
    moved = turned[:, order]
    return torch.equal(moved, allowed)
