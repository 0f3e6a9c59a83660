"""What the figures show, a few sentences an experiment: made from the figures, and true of wrong modules too."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from grader.lab.amounts import factor, mib, number, percent, rate, seconds
from grader.lab.figures import (
    Against,
    AgainstPoint,
    Difference,
    Experiment,
    Future,
    Heads,
    HeadsPoint,
    Lab,
    Scaling,
    ScalingPoint,
    Timed,
)

#: Slopes and levels, in the logarithm, that few tokens and random weights give rise to.
_FLAT, _NEAR = 0.2, math.log(1.5)
#: Movements below this are no information that anybody could use, and yet are not 0.
_TRACE = 1e-6


class Told(NamedTuple):
    """An experiment, in words."""

    title: str
    shows: str


def in_words(lab: Lab) -> tuple[Told, ...]:
    """All experiments."""
    return (
        Told("Scaling", scaling_shows(lab.scaling)),
        Told("Causal mask", future_shows(lab.future)),
        Told("Heads", heads_shows(lab.heads)),
        Told("Beside PyTorch", against_shows(lab.against)),
    )


def lines(lab: Lab) -> Iterator[str]:
    """The same, a line each."""
    for place, one in enumerate(in_words(lab), 1):
        yield f"{place} {one.title}: {one.shows}"


# --- 1 -----------------------------------------------------------------------------------------------------------


def scaling_shows(scaling: Scaling) -> str:
    """Whether the variance of the logits depends on the width of a head."""
    on = [one for one in scaling.points if one.is_scaled and one.variance]
    off = [one for one in scaling.points if not one.is_scaled and one.variance]
    if len(on) < 2 or len(off) < 2:
        return _nothing(scaling) if not scaling.points else _gradients_alone(scaling)
    widths = f"from d_head = {on[0].d_head} to {on[-1].d_head}"
    sentences = [_scaled(on, widths), _unscaled(off), _spread(on[-1], off[-1])]
    unreadable = max(one.unreadable_share for one in scaling.points)
    if unreadable:
        sentences.append(
            f"Up to {percent(unreadable)} of the weights of allowed keys are 0 or less: their logits are unknown."
        )
    return " ".join(filter(None, sentences))


def _scaled(points: Sequence[ScalingPoint], widths: str) -> str:
    logs = [math.log(one.variance or 1) for one in points]
    slope, level = _slope(points), math.fsum(logs) / len(logs)
    ends = f"from {number(points[0].variance)} to {number(points[-1].variance)}"
    if slope > _FLAT:
        return (
            f"As the module is, the variance of its logits grows with the width, about as d to the power {slope:.1f} "
            f"({ends}, {widths}): its scores are not divided by the square root of d_head."
        )
    if slope < -_FLAT:
        return (
            f"As the module is, the variance of its logits falls with the width, about as d to the power {slope:.1f} "
            f"({ends}, {widths}): its scores are divided by more than the square root of d_head."
        )
    if abs(level) > _NEAR:
        return (
            f"As the module is, the variance of its logits is about {number(math.exp(level))} at every width, and not "
            f"1: its scores are {number(math.exp(level / 2))} times what the square root of d_head would make of them."
        )
    low, high = min(one.variance or 0 for one in points), max(one.variance or 0 for one in points)
    return f"With the scaling, the variance of the logits stays near 1 {widths} ({number(low)} to {number(high)})."


def _unscaled(points: Sequence[ScalingPoint]) -> str:
    first, last = points[0], points[-1]
    shares = ""
    if first.entropy_share is not None and last.entropy_share is not None:
        shares = (
            f", and the entropy of the weights goes from {percent(first.entropy_share)} to "
            f"{percent(last.entropy_share)} of that of equal weights"
        )
    return (
        f"With queries multiplied by the square root of d, which undoes the division, it goes from "
        f"{number(first.variance)} to {number(last.variance)}{shares}."
    )


def _spread(on: ScalingPoint, off: ScalingPoint) -> str:
    """How unequal the gradients of tokens are, at the largest width."""
    if not (on.gradient_low and on.gradient_high and off.gradient_low and off.gradient_high):
        return ""
    return (
        f"At d_head = {on.d_head} the gradient through the scores of a token in the highest tenth is "
        f"{factor(on.gradient_high / on.gradient_low)} that of one in the lowest tenth as the module is, and "
        f"{factor(off.gradient_high / off.gradient_low)} with the division undone."
    )


def _gradients_alone(scaling: Scaling) -> str:
    """Where logits could not be read."""
    on, off = ([one for one in scaling.points if one.is_scaled is side] for side in (True, False))
    why = f": {scaling.problems[0].verdict.label}" if scaling.problems else ""
    both = len(on) == len(off) > 0
    return " ".join(filter(None, [f"Logits could not be read{why}.", _spread(on[-1], off[-1]) if both else ""]))


def _slope(points: Sequence[ScalingPoint]) -> float:
    """Power of d that the variance grows with: least squares of the logarithms."""
    xs = [math.log(one.d_head) for one in points]
    ys = [math.log(one.variance or 1) for one in points]
    x_mean, y_mean = math.fsum(xs) / len(xs), math.fsum(ys) / len(ys)
    products = math.fsum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    return products / math.fsum((x - x_mean) ** 2 for x in xs)


# --- 2 -----------------------------------------------------------------------------------------------------------


def future_shows(future: Future) -> str:
    """Whether an output moves when a later token changes."""
    if not future.with_mask:
        return _nothing(future)
    pairs = [(query, token) for query in range(future.length) for token in range(future.length)]
    moved = {(query, token): future.with_mask[query][token] for query, token in pairs}
    later = {pair: moved[pair] for pair in pairs if pair[1] > pair[0]}
    sentences = []
    if future.unrest:
        sentences.append(
            f"Two equal calls already differ, by up to {number(future.unrest)}: what moves here may be chance."
        )
    sentences += [_leak(later), _deaf([pair for pair in pairs if pair[1] <= pair[0] and not moved[pair]])]
    if future.without_mask:
        sentences.append(_unmasked(future, [pair for pair in pairs if pair[0] != pair[1]]))
    return " ".join(filter(None, sentences))


def _leak(later: dict[tuple[int, int], float]) -> str:
    leaking = {pair: moved for pair, moved in later.items() if moved}
    if not leaking:
        pairs = f"{len(later)} pairs of an output and a later token"
        return f"The future does not leak: in all {pairs} the output moves by exactly 0."
    (query, token), most = max(leaking.items(), key=lambda one: one[1])
    count = f"{len(leaking)} of {len(later)} pairs of an output and a later token"
    if most < _TRACE:
        return f"A trace of the future gets through: the output moves in {count}, by {number(most)} at most."
    return (
        f"The future leaks: the output moves in {count}. The most: changing token {token} moves output {query}, which "
        f"comes before it, by {number(most)} times the change."
    )


def _deaf(deaf: Sequence[tuple[int, int]]) -> str:
    if not deaf:
        return ""
    query, token = deaf[0]
    return (
        f"{len(deaf)} {'pair does' if len(deaf) == 1 else 'pairs do'} not move though the mask allows it; output "
        f"{query}, for one, does not depend on token {token}."
    )


def _unmasked(future: Future, pairs: Sequence[tuple[int, int]]) -> str:
    moving = sum(future.without_mask[query][token] > 0 for query, token in pairs)
    count = "all" if moving == len(pairs) else f"{moving} of"
    with_mask, without_mask = future.with_mask, future.without_mask
    apart = max(abs(with_mask[query][token] - without_mask[query][token]) for query, token in pairs)
    same = ", the same as with it: there is no mask, or it does nothing" if apart < _TRACE else ""
    return f"Without the mask, {count} {len(pairs)} pairs of different positions move{same}."


# --- 3 -----------------------------------------------------------------------------------------------------------


def heads_shows(heads: Heads) -> str:
    """What more heads cost."""
    if len(heads.points) < 2:
        return _nothing(heads)
    first, last = heads.points[0], heads.points[-1]
    went = []
    if first.weights_bytes and last.weights_bytes:
        went.append(f"the weights go from {mib(first.weights_bytes)} to {mib(last.weights_bytes)}")
    if first.made_bytes and last.made_bytes:
        went.append(f"all tensors of a forward pass from {mib(first.made_bytes)} to {mib(last.made_bytes)}")
    change = f"From {_some_heads(first)} to {_some_heads(last)}"
    sentences = [f"{change}: {', '.join(went)}." if went else f"{change}."]
    if first.both.net_s and last.both.net_s:
        before, after = heads.tokens / first.both.net_s, heads.tokens / last.both.net_s
        sentences.append(
            f"Forward and backward, {rate(before)} tokens a second become {rate(after)}, {factor(after / before)}"
            f"{_scatter(first.both, last.both)}."
        )
    else:
        sentences.append("The calls were too short to be told from the way to the worker and back.")
    return " ".join(sentences)


def _some_heads(point: HeadsPoint) -> str:
    return f"{point.n_heads} {'head' if point.n_heads == 1 else 'heads'} of width {point.d_head}"


# --- 4 -----------------------------------------------------------------------------------------------------------


def against_shows(against: Against) -> str:
    """Whether the answers agree with PyTorch's, and how times compare."""
    if not against.differences:
        return _nothing(against)
    apart = [one for one in against.differences if one.largest > one.allowed]
    sentences = [_apart(apart) if apart else _agreeing(against)]
    sentences.append(_times(against.points[-1]) if against.points else "")
    return " ".join(filter(None, sentences))


def _apart(apart: Sequence[Difference]) -> str:
    worst = [f"{one.what} by up to {number(one.largest)}" for one in apart if one.dtype == apart[0].dtype]
    return f"Not PyTorch's attention: in {apart[0].dtype} these differ: {', '.join(worst)}."


def _agreeing(against: Against) -> str:
    dtype = against.differences[0].dtype
    most = [f"{one.what} {number(one.largest)}" for one in against.differences if one.dtype == dtype]
    told = f"the same as PyTorch's but for rounding; largest differences in {dtype}: {', '.join(most)}."
    if against.problems:
        return f"Not all of it could be compared ({against.problems[0].verdict.label}). What could is {told}"
    return f"{told[0].upper()}{told[1:]}"


def _times(point: AgainstPoint) -> str:
    own, library = point.own_both.net_s, point.library_both.net_s
    if not (own and library):
        return "The calls were too short to be told from the way to the worker and back."
    return (
        f"With {point.length} tokens a sample, forward and backward take {seconds(own)}, and {seconds(library)} in "
        f"PyTorch: {factor(own / library)}{_scatter(point.own_both, point.library_both)}."
    )


def _scatter(one: Timed, other: Timed) -> str:
    """What is to be added where the middle halves of repetitions overlap."""
    is_apart = (one.net_high_s or 0) < (other.net_low_s or 0) or (other.net_high_s or 0) < (one.net_low_s or 0)
    return "" if is_apart else ", which is less than the repetitions differ among themselves"


def _nothing(experiment: Experiment) -> str:
    why = f": {experiment.problems[0].verdict.label}" if experiment.problems else ""
    return f"It could not be measured{why}."
