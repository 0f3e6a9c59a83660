"""How far answers are from PyTorch's own, in words and in sums. Works on a report's records and on a student's view."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from grader.verdict import Verdict


class Measurement(Protocol):
    """What a difference says; `measured.Measured` and `student_records.StudentMeasured` have it."""

    @property
    def name(self) -> str: ...
    @property
    def is_gradient(self) -> bool: ...
    @property
    def is_parameter(self) -> bool: ...
    @property
    def source(self) -> str: ...
    @property
    def difference(self) -> float: ...
    @property
    def allowed(self) -> float: ...


class Check(Protocol):
    """A check, as far as it is of interest here."""

    @property
    def callable(self) -> str: ...
    @property
    def visible(self) -> bool: ...
    @property
    def verdict(self) -> Verdict: ...
    @property
    def measured(self) -> Sequence[Measurement]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Largest:
    """The largest difference of several."""

    difference: float
    allowed: float
    #: Whether a check failed over it.
    is_too_large: bool

    @property
    def text(self) -> str:
        """Two digits."""
        return number(self.difference)

    @property
    def allowed_text(self) -> str:
        return number(self.allowed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """A callable beside PyTorch's: what the visible checks that compare the two found."""

    callable: str
    source: str
    #: How many checks those are.
    checks: int
    #: Of returned values; None where none was compared.
    forward: Largest | None
    #: Of the gradients of inputs; None where none was compared.
    gradient: Largest | None

    @property
    def text(self) -> str:
        """Both in a line."""
        parts = [
            f"{what} {one.text} (allowed {one.allowed_text})"
            for what, one in (("values", self.forward), ("input gradients", self.gradient))
            if one
        ]
        return f"largest differences from {self.source}: {', '.join(parts)}"


def agreements(checks: Iterable[Check]) -> list[Agreement]:
    """One for each callable that visible checks compare with PyTorch, in the order of the checks."""
    found: dict[tuple[str, str], list[tuple[Check, Measurement]]] = {}
    for check in checks:
        for one in check.measured if check.visible else ():
            found.setdefault((check.callable, one.source), []).append((check, one))
    return [
        Agreement(
            callable=name,
            source=source,
            checks=len({id(check) for check, _ in pairs}),
            forward=_largest((check, one) for check, one in pairs if not one.is_gradient),
            gradient=_largest((check, one) for check, one in pairs if one.is_gradient and not one.is_parameter),
        )
        for (name, source), pairs in found.items()
    ]


def measured_texts(measured: Sequence[Measurement]) -> list[str]:
    """A line for each source, such as `largest differences from PyTorch: output 2.2e-16 (allowed 1e-05)`."""
    return [
        f"largest differences from {source}: {_differences(list(of_source))}"
        for source, of_source in groupby(measured, lambda one: one.source)
    ]


def number(difference: float) -> str:
    """Two digits, such as 2.2e-16, 0.33 or 170."""
    return f"{float(f'{difference:.2g}'):g}"


def _largest(pairs: Iterable[tuple[Check, Measurement]]) -> Largest | None:
    """Of what is allowed, the largest share."""
    best = max(pairs, key=lambda pair: pair[1].difference / pair[1].allowed, default=None)
    if best is None:
        return None
    check, one = best
    is_too_large = check.verdict is not Verdict.PASSED and one.difference >= one.allowed
    return Largest(difference=one.difference, allowed=one.allowed, is_too_large=is_too_large)


def _differences(measured: Sequence[Measurement]) -> str:
    """Each with its name; what is allowed once for all in a row that share it."""
    rows = [
        f"{', '.join(f'{_what(one)} {number(one.difference)}' for one in alike)} (allowed {number(allowed)})"
        for allowed, alike in groupby(measured, lambda one: one.allowed)
    ]
    return ", ".join(rows)


def _what(one: Measurement) -> str:
    if one.is_parameter:
        return "gradients of parameters"
    return f"gradient of {one.name}" if one.is_gradient else one.name
