"""What attention costs: shapes, bytes and floating-point operations, counted by hand.

A product of [m, k] and [k, n] takes m * n * k multiplications and as many additions: 2 * m * n * k operations.
Products of matrices are counted and nothing else: no softmax, no scaling, no biases.

Source: Kaplan et al. 2020, "Scaling Laws for Neural Language Models", section 2.1, for the way of counting.
"""

Shape = tuple[int, ...]


def cross_attention_shapes(batch: int, queries: int, keys: int, dim: int, value_dim: int) -> tuple[Shape, Shape, Shape]:
    """Shapes on the way of a cross-attention with one head.

    Args:
        queries, keys: how many there are in each sample.
        dim, value_dim: sizes of a query (and a key), and of a value.

    Returns:
        Shapes of the transposed key that the query is multiplied by, of the scores, and of the output.
    """
    transposed_key = (batch, dim, keys)
    scores = (batch, queries, keys)
    output = (batch, queries, value_dim)
    return transposed_key, scores, output


def scores_memory(batch: int, tokens: int, dim: int, heads: int, element_bytes: int) -> int:
    """Bytes that the scores of a self-attention take: of all heads, of all samples.

    Args:
        dim: size of a token, all heads together.
        element_bytes: bytes of one number.
    """
    scores_of_a_head = tokens * tokens
    return batch * heads * scores_of_a_head * element_bytes


def attention_flops(batch: int, tokens: int, dim: int, heads: int) -> int:
    """Operations of a multi-head self-attention: its four projections, its scores, its weighted sums.

    Args:
        dim: size of a token, all heads together.
    """
    head_dim = dim // heads
    projection = 2 * tokens * dim * dim
    scores = 2 * heads * tokens * tokens * head_dim
    sums = 2 * heads * tokens * tokens * head_dim
    return batch * (4 * projection + scores + sums)


def feed_forward_flops(batch: int, tokens: int, dim: int, heads: int) -> int:
    """Operations of the two layers of a feed-forward part, from `dim` to four times as many and back."""
    hidden = 4 * dim
    layer = 2 * tokens * dim * hidden
    return batch * (2 * layer)


def dominant_part(batch: int, tokens: int, dim: int, heads: int) -> str:
    """Name the part of a block that takes more operations: "attention" or "feed-forward"."""
    attention = attention_flops(batch, tokens, dim, heads)
    feed_forward = feed_forward_flops(batch, tokens, dim, heads)
    return "attention" if attention > feed_forward else "feed-forward"


def attention_dominates_from(dim: int) -> int:
    """Least number of tokens with which attention takes more operations than the feed-forward part.

    Per token and per element of `dim`: 8 dim + 4 tokens against 16 dim.
    """
    as_many = 2 * dim
    return as_many + 1
