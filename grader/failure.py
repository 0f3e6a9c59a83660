"""How a check fails: a verdict, and the facts a message is made of. Facts only; the wording is in `messages`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.compare import Mismatch
from grader.outcome import (
    Died,
    Failed,
    Forbidden,
    Garbled,
    MissingName,
    NotAsked,
    Raised,
    TimedOut,
    WrongParameters,
)
from grader.plain import Plain
from grader.verdict import Verdict

Shape = tuple[int, ...]
#: What a call that gave no value is called; one that raised has several names.
_VERDICTS: dict[type, Verdict] = {
    Forbidden: Verdict.FORBIDDEN,
    MissingName: Verdict.MISSING_NAME,
    WrongParameters: Verdict.WRONG_PARAMETERS,
    TimedOut: Verdict.TIMEOUT,
    Died: Verdict.CRASHED,
    Garbled: Verdict.CRASHED,
    NotAsked: Verdict.BLOCKED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was called, for the first lines of a message."""

    #: `scaled_dot_product_attention(query, key, value)`.
    text: str
    #: `query [2, 3, 7]  key [2, 5, 7]  float64`.
    inputs: str
    #: File the callable is in.
    file: str
    callable: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoFile:
    """The part's file is missing, or could not be read."""

    file: str
    #: Why it could not be read; empty when it is not there.
    reason: str
    #: What there is instead.
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswer:
    """The call, or its backward pass, gave no value."""

    failed: Failed
    is_backward: bool = False
    #: Parameters the module must have, by name; for `WrongParameters`.
    parameters: Mapping[str, Shape] = field(default_factory=dict)
    #: Whether these names are nobody's business.
    is_by_structure: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenNeighbour:
    """Another file of the submission, which this one imports, does not load or is not filled in."""

    file: str
    is_missing: bool
    #: What importing or calling it came to; forbidden while it was imported, or an exception.
    raised: Raised | Forbidden


@dataclass(frozen=True, slots=True, kw_only=True)
class PrerequisiteFailed:
    """A check that this one builds on did not pass."""

    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherFailed:
    """Another callable of the submission, with which this one is compared, does not answer rightly itself."""

    callable: str
    #: How its own check would end.
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFailed:
    """A plain `assert` of the check did not hold; `claim` is what pytest says about it."""

    claim: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRaised:
    """An error the task asks for did not come; `raised` is what came instead, if anything."""

    wanted: str
    when: str
    raised: Raised | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongStructure:
    """What was returned is not the value, or the tuple of values, that the task names."""

    found: str
    wanted: str
    #: Where it was looked for, if it was not returned: `self.weights`.
    of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongShape:
    name: str
    observed: Shape
    expected: Shape
    axes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongDtype:
    name: str
    observed: str
    expected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotFinite:
    name: str
    index: Shape
    axes: tuple[str, ...]
    value: float
    count: int
    total: int
    is_gradient: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Differs:
    """A value, a gradient, or something computed from them (`name` says what) is not as expected."""

    name: str
    axes: tuple[str, ...]
    mismatch: Mismatch
    is_gradient: bool = False
    #: Whether the values are True and False: a mask.
    is_boolean: bool = False
    #: For a property: what ought to hold. Empty for a comparison with expected values.
    claim: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaysOtherwise:
    """A plain value, a number or a word, is not the right one."""

    name: str
    observed: Plain
    expected: Plain
    #: The words that it is one of; empty where the task gives no choice.
    among: tuple[str, ...] = ()
    #: Which case was asked about, where the shapes that went in do not tell.
    case: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoGradient:
    #: All inputs and parameters that no gradient reached.
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InputChanged:
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unstable:
    """Two equal calls, two answers."""

    name: str
    difference: float
    #: The two answers, where they are plain values.
    plain: tuple[Plain, ...] = ()


Fact = (
    NoFile
    | NoAnswer
    | BrokenNeighbour
    | PrerequisiteFailed
    | OtherFailed
    | ClaimFailed
    | NotRaised
    | WrongStructure
    | WrongShape
    | WrongDtype
    | NotFinite
    | Differs
    | SaysOtherwise
    | NoGradient
    | InputChanged
    | Unstable
)


class CheckFailed(Exception):
    """Ends a check that did not pass. Its text is what the student reads."""

    def __init__(self, verdict: Verdict, fact: Fact, text: str) -> None:
        super().__init__(text)
        self.verdict = verdict
        self.fact = fact


def verdict_of(failed: Failed) -> Verdict:
    """The verdict for a call that gave no value."""
    if not isinstance(failed, Raised):
        return _VERDICTS[type(failed)]
    if failed.is_out_of_memory:
        return Verdict.OUT_OF_MEMORY
    if failed.stage == "import":
        return Verdict.IMPORT_ERROR
    if failed.is_unfilled:
        return Verdict.NOT_IMPLEMENTED
    return Verdict.NO_GRADIENT if failed.stage == "backward" else Verdict.EXCEPTION
