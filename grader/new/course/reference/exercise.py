"""A softmax with a temperature: the right answers.

Each decision has a line of its own, so that a mistake can be made in it alone: see mistakes/exercise.toml.
"""

import torch
from torch import Tensor


def exercise(scores: Tensor, temperature: float = 1.0) -> Tensor:
    """Turn each row of scores into probabilities.

    Args:
        scores: [row, column].
        temperature: above 0; the higher, the more even the probabilities.

    Returns:
        [row, column], of the dtype of `scores`; each row sums to 1.
    """
    logits = scores / temperature
    largest = logits.amax(dim=-1, keepdim=True)  # of each row, [row, 1]
    exponentials = torch.exp(logits - largest)  # at most 1, so that none is infinite
    total = exponentials.sum(dim=-1, keepdim=True)  # of each row, [row, 1]
    return exponentials / total
