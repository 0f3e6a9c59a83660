"""Experiment 4: the same attention in PyTorch: how far the answers are apart, and how long both take.

PyTorch's module gets the same weights (`qkv` as its `in_proj_weight`, `out` as its `out_proj.weight`), and is asked in
a worker too, over the same wire. It is trusted: where it gives no answer, the fault is not the student's.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from torch import Tensor

from grader import compare
from grader.lab.bench import Answer, Bench, Step, Unanswered, is_hopeless
from grader.lab.drawn import Drawn
from grader.lab.figures import Against, AgainstPoint, Difference, Problem
from grader.lab.timing import in_turn, timed

DTYPE = "float32"
#: Sizes of the compared call, pairwise different.
_BATCH, _LENGTH, _HEADS, _D_MODEL = 3, 11, 4, 32

What = Literal["output", "weights", "gradient of x"]
_WHAT: tuple[What, ...] = ("output", "weights", "gradient of x")


def measure_against(
    bench: Bench,
    library: Bench,
    nothing: Bench,
    drawn: Drawn,
    *,
    tolerances: Mapping[str, float],
    lengths: Sequence[int],
    d_model: int,
    batch: int,
    repetitions: int,
    step: Step,
) -> Against:
    """Compare with PyTorch's, and time both at these lengths.

    Args:
        library: the bench of PyTorch's module.
        nothing: that of the empty call.
        tolerances: what a check allows, by dtype.
    """
    problems: list[Problem] = []
    differences: list[Difference] = []
    for dtype, tolerance in tolerances.items():
        differences += _differences(bench, library, drawn, dtype, tolerance, problems)
        step()
    points: list[AgainstPoint] = []
    for length in lengths if differences else ():
        try:
            points.append(_point([bench, library, nothing], drawn, length, d_model, batch, repetitions, step))
        except Unanswered as unanswered:
            problems.append(unanswered.problem(f"{length} tokens"))
            break
    return Against(
        batch=batch,
        d_model=d_model,
        n_heads=_HEADS,
        repetitions=repetitions,
        dtype=DTYPE,
        differences=tuple(differences),
        points=tuple(points),
        problems=tuple(problems),
    )


def _differences(
    bench: Bench, library: Bench, drawn: Drawn, dtype: str, tolerance: float, problems: list[Problem]
) -> list[Difference]:
    x = drawn.normal("against x", _BATCH, _LENGTH, _D_MODEL)
    upstream = drawn.normal("against upstream", _BATCH, _LENGTH, _D_MODEL)
    weights = drawn.weights("against", _D_MODEL)
    own, right = (one.question(one.module(weights, _HEADS, dtype), x, upstream) for one in (bench, library))
    expected = library.ask(right)
    try:
        observed = bench.ask(own)
    except Unanswered as unanswered:
        _note(problems, unanswered.problem("" if is_hopeless(unanswered) else dtype))
        return []
    found = []
    for what in _WHAT:
        try:
            found.append(_difference(what, dtype, tolerance, observed, expected))
        except Unanswered as unanswered:
            _note(problems, unanswered.problem(what))
    return found


def _note(problems: list[Problem], problem: Problem) -> None:
    """Add a problem, unless the other dtype met it too."""
    if all(problem.at != other.at for other in problems):
        problems.append(problem)


def _difference(what: What, dtype: str, tolerance: float, observed: Answer, expected: Answer) -> Difference:
    one, other = _read(observed, what), _read(expected, what)
    return Difference(
        what=what,
        dtype=dtype,
        largest=float((one - other).abs().max()),
        scale=float(other.abs().max()),
        allowed=compare.allowance(tolerance, [other]),
    )


def _read(answer: Answer, what: What) -> Tensor:
    if what == "output":
        return answer.output
    return answer.weights if what == "weights" else answer.gradient


def _point(
    benches: Sequence[Bench], drawn: Drawn, length: int, d_model: int, batch: int, repetitions: int, step: Step
) -> AgainstPoint:
    x = drawn.normal(f"against {length} x", batch, length, d_model)
    upstream = drawn.normal(f"against {length} upstream", batch, length, d_model)
    weights = drawn.weights(f"against {length}", d_model)
    modules = [(bench, bench.module(weights, _HEADS, DTYPE)) for bench in benches]
    forward = [(bench, bench.question(module, x)) for bench, module in modules]
    both = [(bench, bench.question(module, x, upstream)) for bench, module in modules]
    seconds = in_turn([*forward, *both], repetitions, step)
    own_forward, library_forward, way_forward, own_both, library_both, way_both = seconds
    return AgainstPoint(
        length=length,
        own_forward=timed(own_forward, way_forward),
        own_both=timed(own_both, way_both),
        library_forward=timed(library_forward, way_forward),
        library_both=timed(library_both, way_both),
    )
