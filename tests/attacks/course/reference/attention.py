"""Scaled dot-product attention, and a secret."""

import math

#: What nobody but staff may know.
SECRET = "@REFERENCE_SECRET@"


def attention(query, key, value):
    """Softmax of the scaled scores, times the values."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return scores.softmax(dim=-1) @ value
