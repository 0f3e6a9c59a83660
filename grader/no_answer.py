"""The words for a call that gave no value: no file, no name, other parameters, an error, no end; or no error at all.

Lines are those of the student's own code, never of the reference's and never a path of the grading machine.
"""

import difflib
import signal
from collections import Counter
from collections.abc import Mapping

from grader.failure import Asked, BrokenNeighbour, NoAnswer, NoFile, NotRaised, Shape
from grader.message_lines import headline, row
from grader.outcome import (
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

#: Characters of an exception's text that are shown.
_MOST_TEXT = 600
#: What libraries make of a refusal: strerror(3) of EPERM and EACCES.
_REFUSALS = ("Operation not permitted", "Permission denied")
_CONFINED = "submissions run without network, files to write and other processes; the task needs none of them"
_STAGES = {"import": "importing the file", "build": "making the module", "backward": "the backward pass"}


def no_file(fact: NoFile, asked: Asked | None) -> list[str]:
    """The part's file is missing, or could not be read."""
    if fact.reason:
        return [f"{fact.file} cannot be read", row("found", fact.reason)]
    found = ", ".join(fact.found) or "no Python file"
    return [
        f"{fact.file} is not in the submission",
        row("found", found),
        row("wanted", f"a file named {fact.file}"),
    ]


def broken_neighbour(fact: BrokenNeighbour, asked: Asked | None) -> list[str]:
    """Another file of the submission is to blame."""
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


def no_answer(fact: NoAnswer, asked: Asked | None) -> list[str]:
    """The call, or its backward pass, gave no value."""
    failed = fact.failed
    if isinstance(failed, Raised):
        return _raised(failed, asked)
    if isinstance(failed, Forbidden):
        return _forbidden(failed, asked)
    if isinstance(failed, MissingName):
        return _missing_name(failed, asked)
    if isinstance(failed, WrongParameters):
        return _wrong_parameters(failed, fact, asked)
    return headline(asked, _ended(failed))


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
        *headline(asked, happened),
        _error(raised),
        *_where(raised.frames),
        *_kept_in(raised),
    ]


def _kept_in(raised: Raised) -> list[str]:
    """What a student cannot know from an error of the system: that it is the grader which does not allow it."""
    is_refused = "PermissionError" in raised.bases or any(text in raised.message for text in _REFUSALS)
    return [row("note", _CONFINED)] if is_refused else []


def _error(raised: Raised) -> str:
    text = raised.message.strip()
    if len(text) > _MOST_TEXT:
        text = text[:_MOST_TEXT] + f" ... (cut, {len(raised.message)} characters)"
    return row("error", f"{raised.type}: {text}" if text else raised.type)


def _where(frames: tuple[Line, ...]) -> list[str]:
    """The innermost line of the student's own."""
    if not frames:
        return []
    line = frames[-1]
    inside = f", in {line.function}" if line.function and line.function != "<module>" else ""
    return [
        row(
            "at",
            f"{line.file}, line {line.line}{inside}" + (f":  {line.text.strip()}" if line.text.strip() else ""),
        )
    ]


def _forbidden(failed: Forbidden, asked: Asked | None) -> list[str]:
    when = f" ({_STAGES[failed.stage]})" if failed.stage in _STAGES else ""
    return [*headline(asked, f"made a forbidden call{when}"), *_call_and_line(failed)]


def _call_and_line(failed: Forbidden) -> list[str]:
    place = f"{failed.line.file}, line {failed.line.line}" if failed.line else "the code"
    found = row("found", f"{place} calls {failed.name}; this assignment asks you to write that yourself")
    text = failed.line.text.strip() if failed.line else ""
    return [found, row("line", text)] if text else [found]


def _missing_name(failed: MissingName, asked: Asked | None) -> list[str]:
    file, name = (asked.file, asked.callable) if asked else ("the file", "the name")
    close = difflib.get_close_matches(name, failed.names, n=3, cutoff=0.6)
    defines = ", ".join(failed.names[:12]) or "nothing"
    lines = [f"{file} defines no {name}", row("found", defines)]
    near = f"{' or '.join(close)}; the name must be exactly {name}"
    return [*lines, row("near", near)] if close else lines


def _wrong_parameters(failed: WrongParameters, fact: NoAnswer, asked: Asked | None) -> list[str]:
    if failed.observed is None:
        return [
            *headline(asked, "is not a module"),
            row("found", f"an object of the class {failed.type}"),
            row("wanted", "a subclass of nn.Module"),
        ]
    observed = {name: tuple(shape) for name, shape in failed.observed.items()}
    wanted = fact.parameters
    if fact.is_by_structure:
        return [
            *headline(asked, "has other parameters than the task asks for, whatever they are called"),
            row("found", _counted(observed)),
            row("wanted", _counted(wanted)),
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
        *headline(asked, "has other parameters than the task names"),
        *[row(label, ", ".join(found[:12])) for label, found in rows if found],
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


def not_raised(fact: NotRaised, asked: Asked | None) -> list[str]:
    """An error that the task asks for did not come."""
    if fact.raised is None:
        return [*headline(asked, "returned a value"), row("wanted", f"{fact.wanted}, {fact.when}")]
    return [
        *headline(asked, f"raised {fact.raised.type}"),
        row("wanted", f"{fact.wanted}, {fact.when}"),
        _error(fact.raised),
        *_where(fact.raised.frames),
    ]
