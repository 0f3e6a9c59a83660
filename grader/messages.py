"""The words of a failed check: five lines at most, in one order: what was called, what went in, how much differs,
where it is worst, a hint. Never the reference's code, never a path of the grading machine.

One function a fact, here or in `no_answer`; each message has a test that pins it whole.
"""

from collections.abc import Callable, Iterable
from typing import Any

from grader.compare import Mismatch
from grader.failure import (
    Asked,
    BrokenNeighbour,
    ClaimFailed,
    Differs,
    Fact,
    InputChanged,
    NoAnswer,
    NoFile,
    NoGradient,
    NotFinite,
    NotRaised,
    OtherFailed,
    PrerequisiteFailed,
    SaysOtherwise,
    Shape,
    Unstable,
    WrongDtype,
    WrongShape,
    WrongStructure,
)
from grader.message_lines import headline, row
from grader.no_answer import broken_neighbour, no_answer, no_file, not_raised
from grader.outcome import (
    Absent,
)
from grader.plain import text_of

#: Characters of a message: a page shows one for each check, and what a student's code gave is quoted in it.
_MOST = 4000


def message(fact: Fact, asked: Asked | None) -> str:
    """The text for a student, without the hint of the check."""
    text = "\n".join(_WORDS[type(fact)](fact, asked))
    return text if len(text) <= _MOST else f"{text[:_MOST]} ... (cut, {len(text)} characters)"


def absent_note(absent: Absent) -> str:
    """What is noted of an import that a submission was graded without."""
    why = {"not installed": "is not installed here", "not allowed": "is not allowed in this assignment"}
    return f"{absent.file}, line {absent.line}: {absent.package} {why[absent.reason]}; graded without it"


# --- an answer of the wrong kind -------------------------------------------------------------------------------


def _wrong_structure(fact: WrongStructure, asked: Asked | None) -> list[str]:
    happened = f"left something else in {fact.of}" if fact.of else "returned something else"
    return [
        *headline(asked, f"{happened} than the task names"),
        row("found", fact.found),
        row("wanted", fact.wanted),
    ]


def _wrong_shape(fact: WrongShape, asked: Asked | None) -> list[str]:
    return [
        *headline(asked, f"returned {fact.name} of the wrong shape"),
        row("found", str(list(fact.observed))),
        row("wanted", _shape(fact.expected, fact.axes)),
    ]


def _shape(shape: Shape, axes: tuple[str, ...]) -> str:
    if len(axes) != len(shape):
        return str(list(shape))
    return f"{list(shape)}, that is [{', '.join(axes)}]"


def _wrong_dtype(fact: WrongDtype, asked: Asked | None) -> list[str]:
    return [
        *headline(asked, f"returned {fact.name} of the wrong dtype"),
        row("found", fact.observed),
        row("wanted", fact.expected),
    ]


def _not_finite(fact: NotFinite, asked: Asked | None) -> list[str]:
    what = f"the gradient of {fact.name}" if fact.is_gradient else fact.name
    return [
        *headline(asked, f"gave NaN or infinity in {what}"),
        row("differs", f"{_share(fact.count, fact.total)} are not finite"),
        row("first", f"{_position(fact.index, fact.axes)}observed {fact.value}"),
    ]


# --- wrong numbers ---------------------------------------------------------------------------------------------


def _differs(fact: Differs, asked: Asked | None) -> list[str]:
    mismatch = fact.mismatch
    happened = f"has a wrong gradient for {fact.name}" if fact.is_gradient else f"returned wrong values in {fact.name}"
    if fact.claim:
        happened = f"breaks a rule: {fact.claim}"
    what = f"the gradient of {fact.name}" if fact.is_gradient else fact.name
    place = _position(mismatch.index, fact.axes)
    return [
        *headline(asked, happened),
        row("differs", f"{_share(mismatch.differing, mismatch.total)} of {what}"),
        row("first" if fact.is_boolean else "worst", place + _values(mismatch, fact.is_boolean)),
    ]


def _values(mismatch: Mismatch, is_boolean: bool) -> str:
    if is_boolean:
        return f"observed {bool(mismatch.observed)}, expected {bool(mismatch.expected)}"
    return (
        f"observed {mismatch.observed:.6g}, expected {mismatch.expected:.6g}, "
        f"difference {mismatch.difference:.3g} (allowed {mismatch.allowed:.3g})"
    )


def _says_otherwise(fact: SaysOtherwise, asked: Asked | None) -> list[str]:
    expected = f"one of {', '.join(map(text_of, fact.among))}" if fact.among else text_of(fact.expected)
    return [
        *headline(asked, f"returned a wrong answer for {fact.name}"),
        *([row("case", fact.case)] if fact.case else []),
        row("observed", text_of(fact.observed)),
        row("expected", expected),
    ]


def _share(count: int, total: int) -> str:
    return f"{count} of {total} elements ({100 * count / max(total, 1):.1f} %)"


def _position(index: Shape, axes: tuple[str, ...]) -> str:
    """Where an element is, up to the colon; nothing for a tensor of one element without axes."""
    if not index:
        return ""
    if len(index) != len(axes):
        return f"index {list(index)}: "
    return ", ".join(f"{axis} {step}" for axis, step in zip(axes, index, strict=True)) + ": "


def _no_gradient(fact: NoGradient, asked: Asked | None) -> list[str]:
    return [
        *headline(asked, "returned values that no gradient can flow back from"),
        row("missing", f"the gradient of {_listed(fact.names)}"),
        row("look for", ".detach(), .item(), .data, torch.no_grad or a new tensor made from numbers"),
    ]


def _input_changed(fact: InputChanged, asked: Asked | None) -> list[str]:
    return [
        *headline(asked, f"changed its caller's {_listed(fact.names)}"),
        row(
            "wanted",
            "the arguments are left as they were; compute a new tensor instead (no +=, /=, *= or "
            "functions ending in _ on an argument)",
        ),
    ]


def _unstable(fact: Unstable, asked: Asked | None) -> list[str]:
    how = (
        f"{fact.name}: {', then '.join(map(text_of, fact.plain))}"
        if fact.plain
        else f"{fact.name} by up to {fact.difference:.3g} between the first call and the second"
    )
    return [
        *headline(asked, "gave two answers to two equal calls"),
        row("differs", how),
        row(
            "wanted",
            "the same answer every time: no dropout in eval mode, no layer made inside the call, "
            "no memory left uninitialised",
        ),
    ]


def _prerequisite(fact: PrerequisiteFailed, asked: Asked | None) -> list[str]:
    return [f"not judged yet: first make this one pass: {fact.title}"]


def _other(fact: OtherFailed, asked: Asked | None) -> list[str]:
    return [f"not judged yet: first make {fact.callable} right, with which it is compared ({fact.verdict.label})"]


def _claim(fact: ClaimFailed, asked: Asked | None) -> list[str]:
    return (
        ["a claim of this check does not hold", row("wanted", fact.claim)]
        if fact.claim
        else ["a claim of this check does not hold"]
    )


def _listed(names: Iterable[str]) -> str:
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last


_WORDS: dict[type, Callable[[Any, Asked | None], list[str]]] = {
    NoFile: no_file,
    BrokenNeighbour: broken_neighbour,
    NoAnswer: no_answer,
    NotRaised: not_raised,
    WrongStructure: _wrong_structure,
    WrongShape: _wrong_shape,
    WrongDtype: _wrong_dtype,
    NotFinite: _not_finite,
    Differs: _differs,
    SaysOtherwise: _says_otherwise,
    NoGradient: _no_gradient,
    InputChanged: _input_changed,
    Unstable: _unstable,
    PrerequisiteFailed: _prerequisite,
    OtherFailed: _other,
    ClaimFailed: _claim,
}
