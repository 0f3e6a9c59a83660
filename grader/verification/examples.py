"""The examples of an assignment: `submissions_example/NAME/ID/`, each with what it must get in `expected.toml`.

    about = "Divides by d instead of its square root."
    points = { single_head = 27 }
    mistakes = [{ ids = ["scale-by-d"], shows_in = ["scaled_dot_product_attention"] }]

Only what is stated is compared.
"""

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from grader.assignment import AssignmentError, near
from grader.course import Course
from grader.find import Found
from grader.report import Check, Submission
from grader.verdict import Verdict

FOLDER = "submissions_example"
FILE = "expected.toml"


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Named(_Section):
    """A mistake by its ids, several where nothing tells them apart, and the callables that show it."""

    ids: tuple[str, ...]
    shows_in: tuple[str, ...]


class Expected(_Section):
    """What an example must get; None: whatever it gets."""

    #: What was done, and what for: nothing is compared with it.
    about: str
    status: str = "graded"
    #: Points by part.
    points: dict[str, Decimal] | None = None
    #: Ids of the checks that do not pass, by verdict.
    verdicts: dict[str, tuple[str, ...]] | None = None
    mistakes: tuple[Named, ...] | None = None
    #: Points lost for each mistake, over all parts.
    charged: dict[str, Decimal] | None = None
    #: Callables that known mistakes do not explain.
    unrecognised: tuple[str, ...] | None = None
    notes: tuple[str, ...] | None = None
    flags: tuple[str, ...] | None = None


def examples_of(course: Course, name: str) -> Mapping[str, tuple[Found, Expected]]:
    """The examples of an assignment, by id; none when it has no folder of them.

    Raises:
        AssignmentError: one does not say what it must get, or says it in a way that cannot be read.
    """
    folder = course.folder / FOLDER / name
    there = sorted(one for one in folder.iterdir() if one.is_dir()) if folder.is_dir() else []
    return {one.name: (Found(id=f"examples/{one.name}", path=one), _read(one / FILE)) for one in there}


def complaints(example: str, expected: Expected, submission: Submission) -> Iterator[str]:
    """What an example got otherwise than it must."""
    got = _facts(submission)
    for field, wanted in expected.model_dump(exclude={"about"}, exclude_none=True).items():
        if _comparable(got[field]) != _comparable(wanted):
            yield f"{example} has {field} {_text(got[field])}, and {FILE} says {_text(wanted)}"


def _read(file: Path) -> Expected:
    try:
        return Expected.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise AssignmentError(
            f'{file}: cannot be read: {error.strerror}; wanted what the example must get, at least: about = "..."'
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise AssignmentError(f"{file}: not valid TOML: {error}") from None
    except ValidationError as error:
        raise AssignmentError("\n".join(_fault(file, fault) for fault in error.errors())) from None


def _fault(file: Path, fault: Any) -> str:
    place = ".".join(str(step) for step in fault["loc"])
    if fault["type"] == "extra_forbidden":
        known = Named.model_fields if len(fault["loc"]) > 1 else Expected.model_fields
        return f"{file}, {place}: unknown key{near(str(fault['loc'][-1]), known)}"
    if fault["type"] == "missing":
        return f"{file}, {place}: missing; it must be given"
    return f"{file}, {place}: {fault['msg']}; got {fault['input']!r}"


def _facts(submission: Submission) -> dict[str, Any]:
    """What a submission got, by the names of the fields of `Expected`."""
    charged: dict[str, Decimal] = defaultdict(Decimal)
    for part in submission.parts:
        for one in part.charged:
            charged[one.mistake] += one.price
    return {
        "status": str(submission.status),
        "points": {part.name: part.score for part in submission.parts},
        "verdicts": _by_verdict(submission.checks),
        "mistakes": [{"ids": one.mistakes, "shows_in": one.callables} for one in submission.diagnoses],
        "charged": dict(charged),
        "unrecognised": submission.unrecognised,
        "notes": submission.notes,
        "flags": [f"{one.kind}, {one.file}:{one.line}: {one.detail}" for one in submission.flags],
    }


def _by_verdict(checks: Iterable[Check]) -> dict[str, list[str]]:
    by_verdict: dict[str, list[str]] = defaultdict(list)
    for check in checks:
        if check.verdict is not Verdict.PASSED:
            by_verdict[str(check.verdict)].append(check.id)
    return dict(by_verdict)


def _comparable(value: Any) -> Any:
    """The same for a tuple and a list."""
    if isinstance(value, Mapping):
        return {key: _comparable(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_comparable(one) for one in value]
    return value


def _text(value: Any) -> str:
    """As it would stand in the file."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_text(one)}" for key, one in value.items()) + " }" if value else "{}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_text, value))}]"
    return f"{value:f}" if isinstance(value, Decimal) else f'"{value}"'
