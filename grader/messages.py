"""The words of a failed check: five lines at most, in one order: what was called, what went in, how much differs,
where it is worst, a hint. Never the reference's code, never a path of the grading machine.

One function a fact; all wording is in this module, and each message has a test that pins it whole.
"""

import difflib
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
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
from grader.outcome import (
    Absent,
    Died,
    Failed,
    Forbidden,
    Garbled,
    Line,
    MissingName,
    NotAsked,
    Raised,
    TimedOut,
    WrongParameters,
)
from grader.plain import text_of

#: Characters of an exception's text that are shown.
_MOST_TEXT = 600
#: Characters of a message: a page shows one for each check, and what a student's code gave is quoted in it.
_MOST = 4000
#: What libraries make of a refusal: strerror(3) of EPERM and EACCES.
_REFUSALS = ("Operation not permitted", "Permission denied")
_CONFINED = "submissions run without network, files to write and other processes; the task needs none of them"
_STAGES = {"import": "importing the file", "build": "making the module", "backward": "the backward pass"}


def message(fact: Fact, asked: Asked | None) -> str:
    """The text for a student, without the hint of the check."""
    text = "\n".join(_WORDS[type(fact)](fact, asked))
    return text if len(text) <= _MOST else f"{text[:_MOST]} ... (cut, {len(text)} characters)"


def absent_note(absent: Absent) -> str:
    """What is noted of an import that a submission was graded without."""
    why = {"not installed": "is not installed here", "not allowed": "is not allowed in this assignment"}
    return f"{absent.file}, line {absent.line}: {absent.package} {why[absent.reason]}; graded without it"


def _headline(asked: Asked | None, what: str) -> list[str]:
    if asked is None:
        return [what]
    lines = [f"{asked.text} {what}"]
    return [*lines, _row("input", asked.inputs)] if asked.inputs else lines


def _row(label: str, text: str) -> str:
    """One labelled line; further lines are set under the first."""
    return f"  {label:<9} " + text.replace("\n", "\n" + " " * 12)


# --- the file --------------------------------------------------------------------------------------------------


def _no_file(fact: NoFile, asked: Asked | None) -> list[str]:
    if fact.reason:
        return [f"{fact.file} cannot be read", _row("found", fact.reason)]
    found = ", ".join(fact.found) or "no Python file"
    return [
        f"{fact.file} is not in the submission",
        _row("found", found),
        _row("wanted", f"a file named {fact.file}"),
    ]


def _broken_neighbour(fact: BrokenNeighbour, asked: Asked | None) -> list[str]:
    if isinstance(fact.raised, Forbidden):
        return [
            f"not run: {fact.file}, which this file imports, makes a forbidden call while it is imported",
            *_call_and_line(fact.raised),
        ]
    if fact.is_missing:
        lines = [f"not run: {fact.file}, which this file imports, is not in the submission"]
    elif fact.raised.is_unfilled:
        lines = [f"not run: it uses {fact.file}, which is not filled in yet"]
    else:
        lines = [f"not run: {fact.file}, which this file imports, does not load", _error(fact.raised)]
    return lines + _where(fact.raised.frames)


# --- no answer -------------------------------------------------------------------------------------------------


def _no_answer(fact: NoAnswer, asked: Asked | None) -> list[str]:
    failed = fact.failed
    if isinstance(failed, Raised):
        return _raised(failed, asked)
    if isinstance(failed, Forbidden):
        return _forbidden(failed, asked)
    if isinstance(failed, MissingName):
        return _missing_name(failed, asked)
    if isinstance(failed, WrongParameters):
        return _wrong_parameters(failed, fact, asked)
    return _headline(asked, _ended(failed))


def _raised(raised: Raised, asked: Asked | None) -> list[str]:
    if raised.is_unfilled and raised.stage != "import":
        return [f"{asked.callable if asked else 'it'} is not filled in yet", *_where(raised.frames)]
    if raised.stage == "import":
        file = asked.file if asked else "the file"
        reason = "ran out of memory" if raised.is_out_of_memory else f"raised {raised.type}"
        return [
            f"{file} does not load: importing it {reason}",
            _error(raised),
            *_where(raised.frames),
            *_kept_in(raised),
        ]
    stage = {"build": "could not be made", "backward": "returned a value, but its backward pass failed"}
    happened = "ran out of memory" if raised.is_out_of_memory else stage.get(raised.stage, "raised an error")
    return [
        *_headline(asked, happened),
        _error(raised),
        *_where(raised.frames),
        *_kept_in(raised),
    ]


def _kept_in(raised: Raised) -> list[str]:
    """What a student cannot know from an error of the system: that it is the grader which does not allow it."""
    is_refused = "PermissionError" in raised.bases or any(text in raised.message for text in _REFUSALS)
    return [_row("note", _CONFINED)] if is_refused else []


def _error(raised: Raised) -> str:
    text = raised.message.strip()
    if len(text) > _MOST_TEXT:
        text = text[:_MOST_TEXT] + f" ... (cut, {len(raised.message)} characters)"
    return _row("error", f"{raised.type}: {text}" if text else raised.type)


def _where(frames: tuple[Line, ...]) -> list[str]:
    """The innermost line of the student's own."""
    if not frames:
        return []
    line = frames[-1]
    inside = f", in {line.function}" if line.function and line.function != "<module>" else ""
    return [
        _row(
            "at",
            f"{line.file}, line {line.line}{inside}" + (f":  {line.text.strip()}" if line.text.strip() else ""),
        )
    ]


def _forbidden(failed: Forbidden, asked: Asked | None) -> list[str]:
    when = f" ({_STAGES[failed.stage]})" if failed.stage in _STAGES else ""
    return [*_headline(asked, f"made a forbidden call{when}"), *_call_and_line(failed)]


def _call_and_line(failed: Forbidden) -> list[str]:
    place = f"{failed.line.file}, line {failed.line.line}" if failed.line else "the code"
    found = _row("found", f"{place} calls {failed.name}; this assignment asks you to write that yourself")
    text = failed.line.text.strip() if failed.line else ""
    return [found, _row("line", text)] if text else [found]


def _missing_name(failed: MissingName, asked: Asked | None) -> list[str]:
    file, name = (asked.file, asked.callable) if asked else ("the file", "the name")
    close = difflib.get_close_matches(name, failed.names, n=3, cutoff=0.6)
    defines = ", ".join(failed.names[:12]) or "nothing"
    lines = [f"{file} defines no {name}", _row("found", defines)]
    near = f"{' or '.join(close)}; the name must be exactly {name}"
    return [*lines, _row("near", near)] if close else lines


def _wrong_parameters(failed: WrongParameters, fact: NoAnswer, asked: Asked | None) -> list[str]:
    if failed.observed is None:
        return [
            *_headline(asked, "is not a module"),
            _row("found", f"an object of the class {failed.type}"),
            _row("wanted", "a subclass of nn.Module"),
        ]
    observed = {name: tuple(shape) for name, shape in failed.observed.items()}
    wanted = fact.parameters
    if fact.is_by_structure:
        return [
            *_headline(asked, "has other parameters than the task asks for, whatever they are called"),
            _row("found", _counted(observed)),
            _row("wanted", _counted(wanted)),
        ]
    missing = [f"{name} {list(shape)}" for name, shape in wanted.items() if name not in observed]
    extra = [f"{name} {list(shape)}" for name, shape in observed.items() if name not in wanted]
    other = [
        f"{name} {list(observed[name])}, not {list(shape)}"
        for name, shape in wanted.items()
        if name in observed and observed[name] != tuple(shape)
    ]
    rows = [("missing", missing), ("unknown", extra), ("shape", other)]
    return [
        *_headline(asked, "has other parameters than the task names"),
        *[_row(label, ", ".join(found[:12])) for label, found in rows if found],
    ]


def _counted(shapes: Mapping[str, Shape]) -> str:
    """How many parameters there are of each shape."""
    counts = Counter(tuple(shape) for shape in shapes.values())
    texts = [f"{count} of {list(shape)}" for shape, count in counts.items()]
    return ", ".join([*texts[:12], *(["..."] if len(texts) > 12 else [])]) or "none"


def _ended(failed: Failed) -> str:
    if isinstance(failed, TimedOut):
        doing = f" ({_STAGES[failed.stage]})" if failed.stage in _STAGES else ""
        return f"did not finish within {failed.limit_s:g} s and was stopped{doing}"
    if isinstance(failed, Died):
        return f"ended the whole program {_manner(failed.exit_code)}{_during(failed.stage)}"
    if isinstance(failed, Garbled):
        return f"wrote into the grader's own connection{_during(failed.stage)}, so there is no answer ({failed.detail})"
    assert isinstance(failed, NotAsked)
    return f"was not called: {failed.reason}"


def _during(stage: str) -> str:
    return f" while {_STAGES[stage]}" if stage in ("import", "build") else ""


def _manner(exit_code: int | None) -> str:
    if exit_code is None:
        return "before it answered"
    if exit_code >= 0:
        return f"with exit code {exit_code} before it answered"
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:
        name = f"signal {-exit_code}"
    return f"by a crash ({name}) before it answered"


def _not_raised(fact: NotRaised, asked: Asked | None) -> list[str]:
    if fact.raised is None:
        return [*_headline(asked, "returned a value"), _row("wanted", f"{fact.wanted}, {fact.when}")]
    return [
        *_headline(asked, f"raised {fact.raised.type}"),
        _row("wanted", f"{fact.wanted}, {fact.when}"),
        _error(fact.raised),
        *_where(fact.raised.frames),
    ]


# --- an answer of the wrong kind -------------------------------------------------------------------------------


def _wrong_structure(fact: WrongStructure, asked: Asked | None) -> list[str]:
    happened = f"left something else in {fact.of}" if fact.of else "returned something else"
    return [
        *_headline(asked, f"{happened} than the task names"),
        _row("found", fact.found),
        _row("wanted", fact.wanted),
    ]


def _wrong_shape(fact: WrongShape, asked: Asked | None) -> list[str]:
    return [
        *_headline(asked, f"returned {fact.name} of the wrong shape"),
        _row("found", str(list(fact.observed))),
        _row("wanted", _shape(fact.expected, fact.axes)),
    ]


def _shape(shape: Shape, axes: tuple[str, ...]) -> str:
    if len(axes) != len(shape):
        return str(list(shape))
    return f"{list(shape)}, that is [{', '.join(axes)}]"


def _wrong_dtype(fact: WrongDtype, asked: Asked | None) -> list[str]:
    return [
        *_headline(asked, f"returned {fact.name} of the wrong dtype"),
        _row("found", fact.observed),
        _row("wanted", fact.expected),
    ]


def _not_finite(fact: NotFinite, asked: Asked | None) -> list[str]:
    what = f"the gradient of {fact.name}" if fact.is_gradient else fact.name
    return [
        *_headline(asked, f"gave NaN or infinity in {what}"),
        _row("differs", f"{_share(fact.count, fact.total)} are not finite"),
        _row("first", f"{_position(fact.index, fact.axes)}observed {fact.value}"),
    ]


# --- wrong numbers ---------------------------------------------------------------------------------------------


def _differs(fact: Differs, asked: Asked | None) -> list[str]:
    mismatch = fact.mismatch
    if fact.claim:
        headline = f"breaks a rule: {fact.claim}"
    else:
        headline = (
            f"has a wrong gradient for {fact.name}" if fact.is_gradient else f"returned wrong values in {fact.name}"
        )
    what = f"the gradient of {fact.name}" if fact.is_gradient else fact.name
    place = _position(mismatch.index, fact.axes)
    return [
        *_headline(asked, headline),
        _row("differs", f"{_share(mismatch.differing, mismatch.total)} of {what}"),
        _row("first" if fact.is_boolean else "worst", place + _values(mismatch, fact.is_boolean)),
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
        *_headline(asked, f"returned a wrong answer for {fact.name}"),
        *([_row("case", fact.case)] if fact.case else []),
        _row("observed", text_of(fact.observed)),
        _row("expected", expected),
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
        *_headline(asked, "returned values that no gradient can flow back from"),
        _row("missing", f"the gradient of {_listed(fact.names)}"),
        _row("look for", ".detach(), .item(), .data, torch.no_grad or a new tensor made from numbers"),
    ]


def _input_changed(fact: InputChanged, asked: Asked | None) -> list[str]:
    return [
        *_headline(asked, f"changed its caller's {_listed(fact.names)}"),
        _row(
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
        *_headline(asked, "gave two answers to two equal calls"),
        _row("differs", how),
        _row(
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
        ["a claim of this check does not hold", _row("wanted", fact.claim)]
        if fact.claim
        else ["a claim of this check does not hold"]
    )


def _listed(names: Iterable[str]) -> str:
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last


_WORDS: dict[type, Callable[[Any, Asked | None], list[str]]] = {
    NoFile: _no_file,
    BrokenNeighbour: _broken_neighbour,
    NoAnswer: _no_answer,
    NotRaised: _not_raised,
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
