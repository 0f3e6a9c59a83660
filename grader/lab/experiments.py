"""The four experiments, one after the other. Each begins with a fresh worker and its own measure of time, so that what
happens in one is nothing to the others.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple

from grader import interrupt
from grader.assignment import Limits, Rules
from grader.conversation import Conversation, TimeLimits
from grader.lab.against import measure_against
from grader.lab.bench import Bench, Target, fitting_dtype
from grader.lab.drawn import Drawn
from grader.lab.figures import Against, Future, Heads, Scaling
from grader.lab.future import measure_future
from grader.lab.heads import measure_heads
from grader.lab.scaling import measure_scaling
from grader.lab.settled import Settled
from grader.launch import Launcher

_OPPONENT = Path(__file__).with_name("opponent.py")
_PART = _OPPONENT.stem
_LIBRARY = Target(
    part=_PART,
    file=_OPPONENT.name,
    name="PyTorch",
    qkv="attention.in_proj_weight",
    out="attention.out_proj.weight",
)
_NOTHING = Target(part=_PART, file=_OPPONENT.name, name="Nothing", qkv="first", out="last")
#: The grader's own modules take as long as they take.
_PATIENT = TimeLimits(import_s=120.0, call_s=120.0, submission_s=1200.0)
_ROOMY = Limits(cpu_s=1200, memory_mib=4096)


class Made(NamedTuple):
    """What came of them."""

    scaling: Scaling
    future: Future
    heads: Heads
    against: Against


def make_all(settled: Settled, own: Launcher, other: Launcher, tell: Callable[[int, int], None]) -> Made:
    """Make the experiments.

    Args:
        settled: what is experimented on.
        own: starts workers for the student's module.
        other: starts workers for the grader's own modules, which the assignment's rules may forbid.
        tell: is told how many of how many steps are done.

    Raises:
        LaunchError, OpponentError: faults of the grader, or of its machine.
    """
    return _Laboratory(settled, own, other, tell).make()


class _Laboratory:
    """What all experiments need."""

    def __init__(self, settled: Settled, own: Launcher, other: Launcher, tell: Callable[[int, int], None]) -> None:
        self._settled = settled
        self._own, self._other = own, other
        self._drawn = Drawn(settled.header.seed)
        self._sizes = settled.sizes
        self._tell = tell
        self._done = 0

    def make(self) -> Made:
        """All of them."""
        dtype = self._dtype()
        return Made(
            scaling=self._scaling(dtype), future=self._future(dtype), heads=self._heads(), against=self._against()
        )

    def _dtype(self) -> str:
        width = 8
        with self._bench() as bench:
            return fitting_dtype(
                bench, self._drawn.weights("dtype", width), 2, self._drawn.normal("dtype x", 2, 3, width)
            )

    def _scaling(self, dtype: str) -> Scaling:
        sizes = self._sizes
        batch, length = sizes.scaling_batch, sizes.scaling_length
        with self._bench() as bench:
            return measure_scaling(
                bench, self._drawn, dtype, widths=sizes.widths, batch=batch, length=length, step=self._step
            )

    def _future(self, dtype: str) -> Future:
        length, d_model = self._sizes.future_length, self._sizes.future_d_model
        with self._bench() as bench:
            return measure_future(bench, self._drawn, dtype, length=length, d_model=d_model, step=self._step)

    def _heads(self) -> Heads:
        sizes = self._sizes
        with self._bench() as bench, self._opponents() as (_, nothing):
            return measure_heads(
                bench,
                nothing,
                self._drawn,
                counts=sizes.heads,
                d_model=sizes.heads_d_model,
                batch=sizes.heads_batch,
                length=sizes.heads_length,
                repetitions=sizes.repetitions,
                step=self._step,
            )

    def _against(self) -> Against:
        sizes = self._sizes
        with self._bench() as bench, self._opponents() as (library, nothing):
            return measure_against(
                bench,
                library,
                nothing,
                self._drawn,
                tolerances=self._settled.assignment.tolerances.model_dump(),
                lengths=sizes.lengths,
                d_model=sizes.against_d_model,
                batch=sizes.against_batch,
                repetitions=sizes.repetitions,
                step=self._step,
            )

    def _step(self) -> None:
        interrupt.raise_if_stopped()
        self._done += 1
        self._tell(self._done, self._sizes.steps)

    @contextmanager
    def _bench(self) -> Iterator[Bench]:
        """The student's module, in a worker that has met nothing before."""
        settled = self._settled
        limits = TimeLimits.of(settled.assignment.limits, settled.header.timeout_s)
        target = Target(part=settled.part, file=settled.file, name=settled.callable)
        with Conversation(self._own, settled.staged.sources.texts, settled.assignment, limits) as conversation:
            conversation.scan()
            yield Bench(conversation, target, settled.header.seed)

    @contextmanager
    def _opponents(self) -> Iterator[tuple[Bench, Bench]]:
        """PyTorch's module and the empty one, in one worker."""
        assignment = self._settled.assignment.model_copy(update={"rules": Rules(), "limits": _ROOMY})
        sources = {_OPPONENT.name: _OPPONENT.read_text(encoding="utf-8")}
        seed = self._settled.header.seed
        with Conversation(self._other, sources, assignment, _PATIENT) as conversation:
            handles = count()
            yield (
                Bench(conversation, _LIBRARY, seed, handles, is_trusted=True),
                Bench(conversation, _NOTHING, seed, handles, is_trusted=True),
            )
