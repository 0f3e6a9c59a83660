"""What is known of a class once its layout is recognised."""

from collections.abc import Iterable
from dataclasses import dataclass

from grader.fault import Fault
from grader.find import Found
from grader.record import clean_text

#: Names in a remark; whoever needs more looks into the folder.
_MOST_NAMED = 5


class LayoutError(Fault):
    """A class cannot be read; the text says where, what was found, what was wanted, what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The submissions of a class, and how they were handed over."""

    #: One line for the TA: "Canvas download: 41 files of 38 students, 3 marked late".
    summary: str
    submissions: tuple[Found, ...]
    #: What a TA should know of what was left, one line each.
    remarks: tuple[str, ...] = ()
    #: Whether it is a class; else it is the one submission that was named, and nobody else is missing.
    is_class: bool = True


def counted(count: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def named(names: Iterable[str]) -> str:
    """A few of many names."""
    everything = sorted(names)
    shown = ", ".join(map(clean_text, everything[:_MOST_NAMED]))
    left = len(everything) - _MOST_NAMED
    return f"{shown} and {left} more" if left > 0 else shown
