"""What explains the answers of one callable: mistakes and traits, or that nothing known does."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.diagnosis.traits import Trait


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a callable failed the checks it failed."""

    part: str
    callable: str
    #: One entry a mistake that was made: the ids that these answers cannot tell apart, in the book's order.
    mistakes: tuple[tuple[str, ...], ...] = ()
    traits: tuple[Trait, ...] = ()
    #: Whether mistakes and traits together account for every answer.
    is_whole: bool = False
    #: Ids of the failed checks that each mistake or trait shows in, by its (first) id.
    shown_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: What shows a trait in this submission, by its id: a line of code, the calls it fails in.
    evidence: Mapping[str, str] = field(default_factory=dict)
