"""How far an answer lies from PyTorch's own, as a report keeps it: of checks that pass as of those that fail."""

from typing import Annotated

from pydantic import AfterValidator, Field

from grader.record import Record

#: Differences beyond it are only known to be larger; JSON has no infinity.
_MOST = 1e300


def _rounded(difference: float) -> float:
    """Two digits: the others are noise of the arithmetic."""
    return float(f"{difference:.2g}") if difference <= _MOST else _MOST  # no comparison holds for NaN


Difference = Annotated[float, AfterValidator(_rounded), Field(ge=0)]


class Measured(Record):
    """The largest difference that a check found between one of its tensors and PyTorch's, over all its calls."""

    name: str
    """Name of the returned value, or of the input or parameter that the gradient is of."""
    is_gradient: bool = False
    """Whether it is a gradient."""
    is_parameter: bool = False
    """Whether it is the gradient of a parameter; the one of all parameters that differs most."""
    source: str
    """What it was compared with, as the assignment calls it."""
    difference: Difference
    """Largest difference of two elements, to two digits."""
    allowed: Difference
    """Largest difference that passes, to two digits."""

    @property
    def key(self) -> tuple[str, bool, str]:
        """What of one check shares an entry: equal names, and all parameters."""
        return self.source, self.is_gradient, "" if self.is_parameter else self.name

    @property
    def share(self) -> float:
        """The difference as a share of what is allowed."""
        return self.difference / self.allowed
