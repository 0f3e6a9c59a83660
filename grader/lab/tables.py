"""The figures of each experiment as a table for people."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from grader.lab.amounts import factor, mib, number, percent, rate, seconds
from grader.lab.figures import Against, Future, Heads, Lab, Scaling


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of text under a head; the first cell of each names the row."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables_of(lab: Lab) -> tuple[tuple[Table, ...], ...]:
    """Those of each experiment, in order; none where nothing was measured."""
    every = (
        [_scaling(lab.scaling)],
        [_future(lab.future)],
        [_heads(lab.heads)],
        [_differences(lab.against), _times(lab.against)],
    )
    return tuple(tuple(one for one in tables if one.rows) for tables in every)


def _scaling(scaling: Scaling) -> Table:
    rows = (
        (
            f"{one.d_head}, {'as it is' if one.is_scaled else 'undone'}",
            number(one.variance),
            number(one.variance_in_theory),
            number(one.entropy_nats),
            percent(one.entropy_share),
            number(one.gradient_low),
            number(one.gradient_median),
            number(one.gradient_high),
            number(_per_logit(one.gradient_median, one.variance)),
            number(one.gradient_through_values),
        )
        for one in scaling.points
    )
    head = (
        "d, scaling",
        "variance of the logits",
        "in theory",
        "entropy, nats",
        "of equal weights",
        "gradient, lowest tenth",
        "median",
        "highest tenth",
        "median / spread of the logits",
        "through the values, median",
    )
    return _table("By width of a head", head, rows)


def _per_logit(gradient: float | None, variance: float | None) -> float | None:
    return gradient / math.sqrt(variance) if gradient is not None and variance else None


def _future(future: Future) -> Table:
    sides = (("as it is", future.with_mask), ("without the mask", future.without_mask))
    rows = []
    for name, movements in sides:
        cells = [(token - query, moved) for query, row in enumerate(movements) for token, moved in enumerate(row)]
        if cells:
            later = [moved for behind, moved in cells if behind > 0]
            earlier = [moved for behind, moved in cells if behind < 0]
            own = [moved for behind, moved in cells if not behind]
            counts = [f"{sum(map(bool, some))} of {len(some)}, {number(max(some))}" for some in (later, earlier, own)]
            rows.append((name, *counts))
    head = ("mask", "a later token changed", "an earlier one", "its own")
    return _table("Pairs in which the output moves, and the largest movement", head, rows)


def _heads(heads: Heads) -> Table:
    rows = (
        (
            f"{one.n_heads}",
            f"{one.d_head}",
            mib(one.weights_bytes),
            ("at least " if one.is_made_cut else "") + mib(one.made_bytes),
            seconds(one.forward.net_s),
            seconds(one.both.net_s),
            seconds(one.both.way_s),
            rate(heads.tokens / one.forward.net_s if one.forward.net_s else None),
            rate(heads.tokens / one.both.net_s if one.both.net_s else None),
        )
        for one in heads.points
    )
    head = (
        "heads",
        "width of each",
        "weights",
        "all tensors",
        "forward",
        "forward and backward",
        "way there and back",
        "tokens / s, forward",
        "tokens / s, both",
    )
    return _table("By number of heads", head, rows)


def _differences(against: Against) -> Table:
    rows = (
        (f"{one.what}, {one.dtype}", number(one.largest), number(one.scale), number(one.allowed))
        for one in against.differences
    )
    return _table("Differences from PyTorch", ("of", "largest difference", "largest element", "a check allows"), rows)


def _times(against: Against) -> Table:
    rows = []
    for one in against.points:
        pairs = (("forward", one.own_forward, one.library_forward), ("both", one.own_both, one.library_both))
        for name, own, library in pairs:
            ratio = own.net_s / library.net_s if own.net_s and library.net_s else None
            cells = seconds(own.net_s), seconds(library.net_s), factor(ratio), seconds(own.way_s)
            rows.append((f"{one.length}, {name}", *cells))
    head = ("tokens, passes", "this module", "PyTorch", "ratio", "way there and back")
    return _table("Times of a call, medians, without the way", head, rows)


def _table(caption: str, head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Table:
    return Table(caption=caption, head=head, rows=tuple(rows))
