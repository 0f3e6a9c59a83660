"""How large the experiments are. What is timed is large enough for the way to a worker to be small beside it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Sizes of all experiments; the defaults are those of a whole run, some seconds on a laptop."""

    #: Widths of a head.
    widths: tuple[int, ...] = (4, 8, 16, 32, 64, 128, 256)
    scaling_batch: int = 16
    scaling_length: int = 32
    future_length: int = 8
    future_d_model: int = 16
    #: Numbers of heads.
    heads: tuple[int, ...] = (1, 2, 4, 8)
    heads_batch: int = 4
    heads_length: int = 128
    heads_d_model: int = 256
    #: Lengths of samples, beside PyTorch.
    lengths: tuple[int, ...] = (32, 64, 128, 256)
    against_batch: int = 2
    against_d_model: int = 128
    #: Times a timed call is made.
    repetitions: int = 9

    @property
    def steps(self) -> int:
        """How often the experiments say that they have come further."""
        timings = (self.repetitions + 1) * (len(self.heads) + len(self.lengths))
        return 2 * len(self.widths) + 2 * self.future_length + timings + 2


#: For a first look, and for tests.
QUICK = Sizes(
    widths=(4, 16, 64),
    scaling_batch=8,
    scaling_length=16,
    future_length=5,
    heads_batch=2,
    heads_length=48,
    heads_d_model=64,
    lengths=(16, 64),
    against_d_model=64,
    repetitions=5,
)
