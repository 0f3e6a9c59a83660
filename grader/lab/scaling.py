"""Experiment 1: logits, weights and gradients with the scaling and without it, against the width of a head.

The module divides its scores by the square root of d_head, or ought to. It has no switch for that; but multiplying the
block of queries in `qkv.weight` by the square root of d_head gives the scores it would have without the division.
Logits are read back from the weights it returns: their logarithms, but for a constant of each row.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from grader.lab.bench import Answer, Bench, Step, Unanswered, is_hopeless
from grader.lab.drawn import Drawn
from grader.lab.figures import Problem, Scaling, ScalingPoint

_OfWeights = tuple[float | None, float | None, float | None, float]
#: Each half of a token is as wide as a head, so there are two heads.
_HEADS = 2


def measure_scaling(
    bench: Bench, drawn: Drawn, dtype: str, *, widths: Sequence[int], batch: int, length: int, step: Step
) -> Scaling:
    """Ask modules with heads of these widths, as they are and without their scaling."""
    points: list[ScalingPoint] = []
    problems: list[Problem] = []
    for d_head in widths:
        for is_scaled in (True, False):
            try:
                points.append(_point(bench, drawn, dtype, d_head, is_scaled, batch, length, problems))
            except Unanswered as unanswered:
                if points or not problems:
                    problems.append(unanswered.problem(_place(d_head, is_scaled)))
                if is_hopeless(unanswered) or not points:
                    break
            step()
        if len(problems) > 1 or (problems and not points):
            break
    return Scaling(
        batch=batch, length=length, n_heads=_HEADS, dtype=dtype, points=tuple(points), problems=tuple(problems)
    )


def _place(d_head: int, is_scaled: bool) -> str:
    return f"d_head = {d_head}, scaling {'on' if is_scaled else 'off'}"


def _point(
    bench: Bench,
    drawn: Drawn,
    dtype: str,
    d_head: int,
    is_scaled: bool,
    batch: int,
    length: int,
    problems: list[Problem],
) -> ScalingPoint:
    d_model = _HEADS * d_head
    weights = drawn.weights_apart(f"scaling {d_head}", d_head)
    if not is_scaled:
        weights = weights.with_queries_times(math.sqrt(d_head))
    x = drawn.normal(f"scaling {d_head} x", batch, length, d_model)
    # Of norm 1 at each token, so that gradients of different widths can be compared.
    upstream = drawn.normal(f"scaling {d_head} upstream", batch, length, d_model) / math.sqrt(d_model)
    module = bench.placed(bench.module(weights, _HEADS, dtype))
    answer = bench.ask(bench.question(module, x, upstream))
    read = _of_weights_returned(answer, problems)
    variance, entropy_nats, entropy_share, unreadable = read or (None, None, None, 0.0)
    scores, values = _gradients(answer, d_head, problems, is_needed=read is None)
    low, median, high = (None, None, None) if scores is None else _spread(scores)
    return ScalingPoint(
        d_head=d_head,
        is_scaled=is_scaled,
        variance=variance,
        variance_in_theory=1.0 if is_scaled else float(d_head),
        entropy_nats=entropy_nats,
        entropy_share=entropy_share,
        unreadable_share=unreadable,
        gradient_low=low,
        gradient_median=median,
        gradient_high=high,
        gradient_through_values=None if values is None else float(values.median()),
    )


def _of_weights_returned(answer: Answer, problems: list[Problem]) -> _OfWeights | None:
    """What weights say; None where none of their shape were returned, and the gradient can be measured all the same."""
    try:
        weights = answer.weights
    except Unanswered as unanswered:
        _note(problems, unanswered)
        return None
    return _of_weights(weights)


def _gradients(
    answer: Answer, d_head: int, problems: list[Problem], *, is_needed: bool
) -> tuple[Tensor | None, Tensor | None]:
    """Norms, by token, of the gradient through the scores and of that through the values.

    None where there is no gradient, but for one that `is_needed`: that raises Unanswered.
    """
    try:
        gradient = answer.gradient
    except Unanswered as unanswered:
        if is_needed:
            raise
        _note(problems, unanswered)
        return None, None
    return gradient[..., :d_head].norm(dim=-1).flatten(), gradient[..., d_head:].norm(dim=-1).flatten()


def _note(problems: list[Problem], unanswered: Unanswered) -> None:
    """Keep the first of what all widths have in common."""
    if not problems:
        problems.append(unanswered.problem())


def _spread(norms: Tensor) -> tuple[float, float, float]:
    low, median, high = norms.quantile(torch.tensor([0.1, 0.5, 0.9], dtype=norms.dtype)).tolist()
    return low, median, high


def _of_weights(weights: Tensor) -> _OfWeights:
    """Variance of the logits, entropy in nats and as a share, and the share of weights that have no logarithm.

    weights: [batch, head, query, key]. Only keys up to the query count, and queries that have at least two of them.
    """
    squares, freedom, entropies, shares, unreadable, allowed = 0.0, 0, [], [], 0, 0
    for query in range(1, weights.shape[2]):
        row = weights[:, :, query, : query + 1].flatten(0, 1)  # [batch and head, key]
        is_readable = (row > 0).all(dim=1)
        unreadable += int((row <= 0).sum())
        allowed += row.numel()
        logits = row[is_readable].log()
        squares += float((logits - logits.mean(dim=1, keepdim=True)).square().sum())
        freedom += logits.shape[0] * query  # a mean was taken off each row of query + 1 logits
        shared = row.clamp_min(0)
        shared = shared[shared.sum(dim=1) > 0]
        shared = shared / shared.sum(dim=1, keepdim=True)
        entropy = -torch.special.xlogy(shared, shared).sum(dim=1)
        entropies.append(entropy)
        shares.append(entropy / math.log(query + 1))
    entropy, share = torch.cat(entropies), torch.cat(shares)
    has_entropy = entropy.numel() > 0
    return (
        squares / freedom if freedom else None,
        float(entropy.mean()) if has_entropy else None,
        float(share.mean()) if has_entropy else None,
        unreadable / allowed,
    )
