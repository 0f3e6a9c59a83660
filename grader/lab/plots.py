"""The plots: SVG by matplotlib, without pyplot and without anything that outlives a call.

Each is text for a page: its words stay words, in the page's own letters, and its colours are the page's, so that it can
be read in the dark. Equal figures give equal bytes: identifiers come from a fixed salt and begin with the plot's name,
so that several can stand on one page.

Series are told apart by marks and lines as well as by colours, which are Okabe and Ito's (2008), chosen for people who
see few colours.
"""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from grader.lab.amounts import number
from grader.lab.figures import (
    Against,
    AgainstPoint,
    Future,
    Heads,
    HeadsPoint,
    Movements,
    Scaling,
    ScalingPoint,
    Timed,
)

#: Inches; a page makes them as wide as there is room.
_WIDTH, _HEIGHT = 4.6, 3.3
_TEXT, _QUIET, _LINE = "#1b1f24", "#59626e", "#d9dde3"
_BLUE, _ORANGE, _GREEN = "#0072b2", "#d55e00", "#009e73"
#: Names in the page's style for colours here.
_VARIABLES = {_TEXT: "--text", _QUIET: "--quiet", _LINE: "--line", _BLUE: "--blue", _ORANGE: "--orange"}
_VARIABLES |= {_GREEN: "--green"}
#: The middle of a cell's shade, where its number turns white; and the shades from pale to dark.
_DARK, _SHADES = 0.55, "Blues"
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "grade lab",
    "font.size": 10,
    "text.color": _TEXT,
    "axes.labelcolor": _TEXT,
    "axes.edgecolor": _QUIET,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "axes.unicode_minus": True,
    "xtick.color": _QUIET,
    "ytick.color": _QUIET,
    "xtick.labelcolor": _TEXT,
    "ytick.labelcolor": _TEXT,
    "figure.facecolor": "none",
    "grid.color": _LINE,
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.5,
}
_ROOT = re.compile(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', re.DOTALL)
_OWN_STYLE = re.compile(r"<defs>\s*<style[^>]*>.*?</style>\s*</defs>", re.DOTALL)
_IDENTIFIER = re.compile(r'(\bid="|href="#|url\(#)')


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A plot, ready for a page."""

    #: In words, for who cannot see it.
    label: str
    svg: Markup


def scaling_plots(scaling: Scaling) -> list[Plot]:
    """Variance, entropy and gradients against the width of a head."""
    sides = [
        ([one for one in scaling.points if one.is_scaled], "as it is", _BLUE, "o"),
        ([one for one in scaling.points if not one.is_scaled], "scaling undone", _ORANGE, "s"),
    ]
    widths = sorted({one.d_head for one in scaling.points})

    def variance(axes: Axes) -> None:
        for points, label, colour, mark in sides:
            axes.plot(*_series(points, lambda one: one.variance), color=colour, marker=mark, label=label)
        theory: dict[str, Any] = {"color": _TEXT, "linestyle": ":", "linewidth": 1.4, "zorder": 5}
        axes.plot(widths, [1.0] * len(widths), **theory, label="theory: 1, and d")
        axes.plot(widths, widths, **theory)
        axes.set_yscale("log")
        _finish(axes, "Variance of the logits", "variance of the logits", widths)

    def entropy(axes: Axes) -> None:
        for points, label, colour, mark in sides:
            axes.plot(*_series(points, lambda one: one.entropy_share), color=colour, marker=mark, label=label)
        axes.set_ylim(0, 1.02)
        _finish(axes, "Entropy of the weights (1 = equal weights)", "entropy / that of equal weights", widths)

    def gradient(axes: Axes) -> None:
        for points, label, colour, mark in sides:
            xs, ys = _series(points, lambda one: one.gradient_median)
            axes.plot(xs, ys, color=colour, marker=mark, label=label)
            whole = [one for one in points if one.gradient_low and one.gradient_high]
            lows, highs = [one.gradient_low or 0 for one in whole], [one.gradient_high or 0 for one in whole]
            axes.fill_between([one.d_head for one in whole], lows, highs, color=colour, alpha=0.18, linewidth=0)
        axes.set_yscale("log")
        _finish(axes, "Gradient of a token: median, and 8 in 10 tokens", "norm of the gradient", widths)

    every = [
        ("variance", "Variance of the logits", variance),
        ("entropy_share", "Entropy of the weights", entropy),
        ("gradient_median", "Norm of the gradient of a token through the scores", gradient),
    ]
    return [
        _plot(name, f"{label}, against the width of a head, with and without scaling", draw)
        for name, label, draw in every
        if any(getattr(one, name) is not None for one in scaling.points)
    ]


def future_plots(future: Future) -> list[Plot]:
    """How much outputs move, with the mask and without it, in the same shades."""
    sides = [("masked", "As it is", future.with_mask), ("unmasked", "Without the mask", future.without_mask)]
    most = max((cell for _, _, rows in sides for row in rows for cell in row), default=0.0) or 1.0
    return [
        _plot(name, f"{title}: movement of each output by each token", _grid(title, rows, most), height=3.9)
        for name, title, rows in sides
        if rows
    ]


def heads_plots(heads: Heads) -> list[Plot]:
    """Throughput and memory against the number of heads."""
    places = range(len(heads.points))
    names = [f"{one.n_heads}\n{one.d_head}" for one in heads.points]

    def throughput(axes: Axes) -> None:
        sides = [
            (-0.2, "forward", _BLUE, [one.forward for one in heads.points]),
            (0.2, "forward and backward", _ORANGE, [one.both for one in heads.points]),
        ]
        for shift, label, colour, times in sides:
            rates = [heads.tokens / one.net_s if one.net_s else 0.0 for one in times]
            axes.bar([place + shift for place in places], rates, 0.36, color=colour, label=label)
            for place, one in zip(places, times, strict=True):
                if one.net_low_s and one.net_high_s:
                    ends = [heads.tokens / one.net_high_s, heads.tokens / one.net_low_s]
                    axes.plot([place + shift] * 2, ends, color=_TEXT, linewidth=1.2)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / 1000:g}"))
        _finish_bars(axes, "Throughput", "thousand tokens / s", names)

    def memory(axes: Axes) -> None:
        sides: list[tuple[float, str, str, Callable[[HeadsPoint], int | None]]] = [
            (-0.2, "weights [B, H, T, T]", _BLUE, lambda one: one.weights_bytes),
            (0.2, "all tensors of a forward pass", _ORANGE, lambda one: one.made_bytes),
        ]
        for shift, label, colour, read in sides:
            amounts = [(read(one) or 0) / 2**20 for one in heads.points]
            axes.bar([place + shift for place in places], amounts, 0.36, color=colour, label=label)
        _finish_bars(axes, "Memory", "MiB", names)

    return [
        _plot("throughput", "Tokens a second against the number of heads", throughput),
        _plot("memory", "Memory against the number of heads", memory),
    ]


def against_plots(against: Against) -> list[Plot]:
    """Differences from PyTorch, and times beside it."""
    plots = []
    if against.differences:
        plots.append(_plot("differences", "Largest differences from PyTorch", _differences(against)))
    if against.points:
        plots.append(_plot("times", "Time of a call against the length of a sample, beside PyTorch", _times(against)))
    return plots


def _differences(against: Against) -> Callable[[Axes], None]:
    whats = list(dict.fromkeys(one.what for one in against.differences))
    marks = {"float64": ("o", _BLUE), "float32": ("s", _ORANGE)}
    floor = 1e-17

    def draw(axes: Axes) -> None:
        for dtype, (mark, colour) in marks.items():
            found = [one for one in against.differences if one.dtype == dtype]
            places = [whats.index(one.what) for one in found]
            values = [max(one.largest, floor) for one in found]
            axes.plot(values, places, mark, color=colour, markersize=8, label=dtype)
            allowed = [one.allowed for one in found]
            label = f"allowed in {dtype}"
            axes.plot(allowed, places, "|", color=colour, markersize=18, markeredgewidth=2, label=label)
        axes.set_xscale("log")
        axes.set_xlim(floor / 2, max(10.0, 2 * max(one.largest for one in against.differences)))
        axes.set_yticks(range(len(whats)), whats)
        axes.set_ylim(len(whats) - 0.5, -0.5)
        axes.grid(axis="x")
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("largest difference of two elements")
        axes.set_title("Differences from PyTorch")
        _legend(axes, columns=2)

    return draw


def _times(against: Against) -> Callable[[Axes], None]:
    lengths = [one.length for one in against.points]
    sides: list[tuple[str, str, str, str, Callable[[AgainstPoint], Timed]]] = [
        ("this module, forward", _BLUE, "o", "--", lambda one: one.own_forward),
        ("this module, both", _BLUE, "o", "-", lambda one: one.own_both),
        ("PyTorch, forward", _GREEN, "^", "--", lambda one: one.library_forward),
        ("PyTorch, both", _GREEN, "^", "-", lambda one: one.library_both),
    ]

    def draw(axes: Axes) -> None:
        for label, colour, mark, line, read in sides:
            taken = [(one.length, read(one)) for one in against.points]
            found = [(length, 1000 * one.net_s) for length, one in taken if one.net_s]
            xs, ys = [x for x, _ in found], [y for _, y in found]
            axes.plot(xs, ys, color=colour, marker=mark, linestyle=line, label=label)
            for length, one in taken:
                if one.net_low_s and one.net_high_s:
                    ends = [1000 * one.net_low_s, 1000 * one.net_high_s]
                    axes.plot([length] * 2, ends, color=colour, linewidth=1)
        axes.set_yscale("log")
        _finish(axes, "Time of a call, without its way", "ms", lengths, "tokens in a sample", columns=2)

    return draw


def _grid(title: str, rows: Movements, most: float) -> Callable[[Axes], None]:
    shades = matplotlib.colormaps[_SHADES]
    length = len(rows)

    def draw(axes: Axes) -> None:
        for query, row in enumerate(rows):
            for token, moved in enumerate(row):
                share = moved / most
                corner = token - 0.5, query - 0.5
                if moved:
                    cell = matplotlib.patches.Rectangle(corner, 1, 1, color=shades(0.12 + 0.85 * share), linewidth=0)
                    axes.add_patch(cell)
                colour = _QUIET if not moved else "#ffffff" if share > _DARK else "#10131a"
                axes.text(token, query, _cell(moved), ha="center", va="center", color=colour, fontsize=8)
        edge = [-0.5, *(place for step in range(length) for place in (step + 0.5, step + 0.5))]
        axes.plot(edge[1:-1], edge[:-2], color=_ORANGE, linewidth=2, solid_joinstyle="miter")
        axes.text(length - 0.55, -0.62, "the future of an output lies right of the line", ha="right", va="bottom",
                  fontsize=8.5, color=_ORANGE)  # fmt: skip
        axes.set_xlim(-0.5, length - 0.5)
        axes.set_ylim(length - 0.5, -0.5)
        axes.set_aspect("equal")
        axes.set_xticks(range(length))
        axes.set_yticks(range(length))
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(True)
            spine.set_color(_LINE)
        axes.set_xlabel("token that was changed")
        axes.set_ylabel("output")
        axes.set_title(title, pad=18)

    return draw


def _cell(moved: float) -> str:
    if not moved:
        return "0"
    return f"{moved:.2f}".removeprefix("0") if 0.005 <= moved < 9.995 else f"{moved:.0e}".replace("e-0", "e-")


def _series(
    points: Sequence[ScalingPoint], read: Callable[[ScalingPoint], float | None]
) -> tuple[list[int], list[float]]:
    found = [(one.d_head, value) for one in points if (value := read(one)) is not None]
    return [x for x, _ in found], [y for _, y in found]


def _finish(
    axes: Axes, title: str, label: str, ticks: Sequence[int], below: str = "width of a head, d", columns: int = 2
) -> None:
    """Axes whose horizontal one is a power of two."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(list(ticks)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    if axes.get_yscale() == "log":
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
        axes.yaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
    axes.grid(axis="y")
    axes.set_xlabel(below)
    axes.set_ylabel(label)
    axes.set_title(title)
    _legend(axes, columns)


def _finish_bars(axes: Axes, title: str, label: str, names: Sequence[str]) -> None:
    axes.set_xticks(range(len(names)), names)
    axes.tick_params(axis="x", length=0)
    axes.set_axisbelow(True)
    axes.grid(axis="y")
    axes.set_xlabel("heads, and below the width of each")
    axes.set_ylabel(label)
    axes.set_title(title)
    _legend(axes, 2, below=-0.28)


def _legend(axes: Axes, columns: int, below: float = -0.2) -> None:
    """Below the plot, where it hides nothing."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.45, below), ncols=columns, columnspacing=1.2, handlelength=1.8)


@contextmanager
def _settings() -> Iterator[None]:
    """The settings of these plots, on top of matplotlib's own, whatever a person's file of settings says."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield


def _plot(name: str, label: str, draw: Callable[[Axes], None], *, height: float = _HEIGHT) -> Plot:
    with _settings():
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        draw(figure.add_subplot())
        text = io.StringIO()
        nothing: dict[str, Any] = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        FigureCanvasSVG(figure).print_svg(text, metadata=nothing)  # type: ignore[no-untyped-call]
    return Plot(label=label, svg=Markup(_inline(name, label, text.getvalue())))


def _inline(name: str, label: str, document: str) -> str:
    """What stands between the tags of a document of its own, for the middle of a page."""
    root = _ROOT.search(document)
    assert root is not None, "matplotlib writes a viewBox"
    body = _OWN_STYLE.sub("", document[root.end() :].replace("xlink:href", "href"))
    body = _IDENTIFIER.sub(rf"\g<1>{name}-", body)
    for colour, variable in _VARIABLES.items():
        body = body.replace(colour, f"var({variable})")
    opening = f'<svg class="plot" viewBox="{root[1]}" role="img" aria-label="{escape(label)}">'
    return f"{opening}<title>{escape(label)}</title>{body.strip()}"
