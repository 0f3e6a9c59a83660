"""Experiment 2: what the causal mask hides. One token is changed, and every output is looked at.

The module is always causal. What it would do without its mask is seen by asking for each token as the last one of the
sequence, which may attend to all others: without positions, attention does not know in which order they come.
"""

from collections.abc import Sequence

from torch import Tensor

from grader.lab.bench import Bench, Module, Step, Unanswered
from grader.lab.drawn import Drawn
from grader.lab.figures import Future, Movements, Problem

_HEADS = 2


def measure_future(bench: Bench, drawn: Drawn, dtype: str, *, length: int, d_model: int, step: Step) -> Future:
    """Change each of so many tokens in turn, with the mask and without it."""
    x = drawn.normal("future x", 1, length, d_model)
    changes = drawn.normal("future changes", length, d_model)
    module = bench.module(drawn.weights("future", d_model), _HEADS, dtype)
    unrest: float | None = None
    with_mask: Movements = ()
    without_mask: Movements = ()
    problems: list[Problem] = []
    try:
        before, again = _output(bench, module, x), _output(bench, module, x)
        unrest = float((before - again).abs().max())
        with_mask = _transposed([_movements(bench, module, x, changes, before, token, step) for token in range(length)])
        without_mask = tuple(_as_last(bench, module, x, changes, token, step) for token in range(length))
    except Unanswered as unanswered:
        problems.append(unanswered.problem("without the mask" if with_mask else ""))
    return Future(
        length=length,
        d_model=d_model,
        n_heads=_HEADS,
        dtype=dtype,
        unrest=unrest,
        with_mask=with_mask,
        without_mask=without_mask,
        problems=tuple(problems),
    )


def _movements(
    bench: Bench, module: Module, x: Tensor, changes: Tensor, before: Tensor, token: int, step: Step
) -> tuple[float, ...]:
    """How much each output moves when one token changes."""
    after = _output(bench, module, _changed(x, changes, token))
    step()
    return tuple(((after - before).norm(dim=-1) / changes[token].norm()).tolist())


def _as_last(bench: Bench, module: Module, x: Tensor, changes: Tensor, query: int, step: Step) -> tuple[float, ...]:
    """How much the output of one token, asked for as the last one, moves with each token."""
    tokens = x.shape[1]
    order = [*(token for token in range(tokens) if token != query), query]
    before = _output(bench, module, x[:, order])[-1]
    moved = []
    for token in range(tokens):
        after = _output(bench, module, _changed(x, changes, token)[:, order])[-1]
        moved.append(float((after - before).norm() / changes[token].norm()))
    step()
    return tuple(moved)


def _output(bench: Bench, module: Module, x: Tensor) -> Tensor:
    """[position, d_model]. A sample a call, so that nothing else can move it."""
    return bench.ask(bench.question(module, x)).output[0]


def _changed(x: Tensor, changes: Tensor, token: int) -> Tensor:
    changed = x.clone()
    changed[:, token] += changes[token]
    return changed


def _transposed(rows: Sequence[tuple[float, ...]]) -> Movements:
    return tuple(zip(*rows, strict=True))
