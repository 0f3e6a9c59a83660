"""Experiment 3: the same width in more and narrower heads: what it costs in time and memory."""

import math
from collections.abc import Sequence

from grader.lab.bench import Answer, Bench, Step, Unanswered, is_hopeless
from grader.lab.drawn import Drawn
from grader.lab.figures import Heads, HeadsPoint, Problem
from grader.lab.timing import in_turn, timed
from grader.traced import Made, Traced

DTYPE = "float32"
_FLOAT_BYTES = 4
#: Operations whose result is a view of what went in, or that change it in place: nothing new is made. `reshape` and
#: `contiguous` copy where they must, and are counted as if they always did.
_VIEWS = frozenset(
    {"T", "mT", "H", "mH", "view", "view_as", "unflatten", "transpose", "permute", "swapaxes", "swapdims", "movedim"}
    | {"unbind", "chunk", "split", "tensor_split", "unsqueeze", "squeeze", "expand", "expand_as", "broadcast_to"}
    | {"getitem", "narrow", "select", "diagonal", "detach", "data", "setitem"}
)


def measure_heads(
    bench: Bench,
    nothing: Bench,
    drawn: Drawn,
    *,
    counts: Sequence[int],
    d_model: int,
    batch: int,
    length: int,
    repetitions: int,
    step: Step,
) -> Heads:
    """Ask modules with so many heads. `nothing`: the bench of the empty call."""
    points: list[HeadsPoint] = []
    problems: list[Problem] = []
    for n_heads in counts:
        try:
            points.append(_point(bench, nothing, drawn, n_heads, d_model, batch, length, repetitions, problems, step))
        except Unanswered as unanswered:
            problems.append(unanswered.problem(f"n_heads = {n_heads}"))
            if is_hopeless(unanswered) or len(problems) > 1:
                break
    return Heads(
        batch=batch,
        length=length,
        d_model=d_model,
        repetitions=repetitions,
        dtype=DTYPE,
        points=tuple(points),
        problems=tuple(problems),
    )


def _point(
    bench: Bench,
    nothing: Bench,
    drawn: Drawn,
    n_heads: int,
    d_model: int,
    batch: int,
    length: int,
    repetitions: int,
    problems: list[Problem],
    step: Step,
) -> HeadsPoint:
    x = drawn.normal("heads x", batch, length, d_model)
    upstream = drawn.normal("heads upstream", batch, length, d_model)
    weights = drawn.weights("heads", d_model)
    modules = [(one, one.module(weights, n_heads, DTYPE)) for one in (bench, nothing)]
    forward = [(one, one.question(module, x)) for one, module in modules]
    both = [(one, one.question(module, x, upstream)) for one, module in modules]
    answer = bench.ask(forward[0][1])
    own_forward, way_forward, own_both, way_both = in_turn([*forward, *both], repetitions, step)
    traced = bench.trace(forward[0][1])
    return HeadsPoint(
        n_heads=n_heads,
        d_head=d_model // n_heads,
        weights_bytes=_weights_bytes(answer, problems),
        made_bytes=made_bytes(traced) if traced else None,
        is_made_cut=traced.is_cut if traced else False,
        forward=timed(own_forward, way_forward),
        both=timed(own_both, way_both),
    )


def _weights_bytes(answer: Answer, problems: list[Problem]) -> int | None:
    """What the weights take; of a module that returns others, the rest is measured all the same."""
    try:
        return answer.weights_bytes
    except Unanswered as unanswered:
        if not problems:
            problems.append(unanswered.problem())
        return None


def made_bytes(traced: Traced) -> int:
    """Bytes of what the operations of a call made, floating tensors taken for float32 and others for Boolean ones."""
    return sum(map(_bytes_of, traced.steps))


def _bytes_of(made: Made) -> int:
    if made.is_raised or made.operation in _VIEWS or made.operation.endswith("_"):
        return 0
    elements = sum(map(math.prod, made.outputs))
    return elements * made.times * (_FLOAT_BYTES if made.is_floating else 1)
