"""What the record in a handout holds: right answers, and those of each known mistake. JSON, with tensors beside it.

    header.json                            which assignment, see `header`
    right.json      right.safetensors      what the checks ask and what is right
    mistakes.json   mistakes.safetensors   the known mistakes: what is said of each, and what it answers, rounded
                    examples.safetensors   small calls in which one shows

All of mistakes is absent at feedback level `verdict`. Nothing in either is code of the reference, or leads to it.
"""

from pathlib import Path
from typing import Any, TypeVar

import safetensors
from pydantic import Field, ValidationError

from grader.diagnosis.mistakes import Named
from grader.handout.calls import RecordedCall
from grader.handout.header import damaged, first_fault
from grader.handout.tensors import Rounded, RoundedRow, Tensors, read_tensors
from grader.oracle import Expected
from grader.record import Record

RIGHT, MISTAKES, EXAMPLES = "right", "mistakes", "examples"
_JSON, _TENSORS = ".json", ".safetensors"


class Drawn(Record):
    """An input that checks draw."""

    scope: str
    way: str
    name: str
    shape: tuple[int, ...]
    tensor: str


class RightAnswer(Record):
    """What is right for one question, by one source. All tensors by their names in the file."""

    digest: str
    source: str
    values: dict[str, str]
    gradients: dict[str, str]
    upstream: str | None
    plain: dict[str, Any] = Field(default={})
    """Numbers, words and sequences of these, themselves."""


class RightOutcome(Record):
    """How the reference answered a question, as a worker would have told it."""

    digest: str
    reply: dict[str, Any]
    tensors: dict[str, str]
    backward: dict[str, Any] | None
    gradients: dict[str, str]


class RightContents(Record):
    """`right.json`."""

    drawn: tuple[Drawn, ...]
    answers: tuple[RightAnswer, ...]
    outcomes: tuple[RightOutcome, ...]
    shapes: dict[str, dict[str, tuple[int, ...]]]
    """Shapes of the parameters of modules, by how they are built."""


class WrongAnswer(Record):
    """What a mistake makes of one answer; its numbers are rounded. See `diagnosis.said.Said`."""

    question: str
    kind: str
    form: tuple[Any, ...]
    numbers: Rounded
    gradients: dict[str, Rounded] | None
    is_backward_raised: bool
    changed: tuple[str, ...]
    bases: tuple[str, ...]
    stage: str
    failure: tuple[Any, ...] | None
    """What the call fails of, where it does and that is certain."""


class RecordedExample(Record):
    """A small call in which a mistake shows, and what is right there: an answer, or an error."""

    call: RecordedCall
    answer: RightAnswer | None
    error: str
    """Class of the exception that is right, where there is no answer."""


class Shown(Record):
    """A mistake, as a callable shows it."""

    part: str
    callable: str
    mistake: str
    answers: tuple[WrongAnswer, ...]
    example: RecordedExample | None


class MistakeContents(Record):
    """`mistakes.json`."""

    mistakes: tuple[Named, ...]
    """What is said of them, under ids that say nothing."""
    shown: tuple[Shown, ...]


Contents = TypeVar("Contents", bound=Record)


def answer_of(digest: str, source: str, expected: Expected, tensors: Tensors) -> RightAnswer:
    """A right answer, as it is written down."""
    return RightAnswer(
        digest=digest,
        source=source,
        values=tensors.put_all(expected.values),
        gradients=tensors.put_all(expected.gradients),
        upstream=None if expected.upstream is None else tensors.put(expected.upstream),
        plain=dict(expected.plain),
    )


def write_right(folder: Path, contents: RightContents, tensors: Tensors) -> None:
    """Write what is right."""
    _write(folder / RIGHT, contents, tensors.to_bytes())


def write_mistakes(folder: Path, contents: MistakeContents, rounded: RoundedRow, exact: Tensors) -> None:
    """Write what is known of mistakes; `exact`: tensors of the examples."""
    _write(folder / MISTAKES, contents, rounded.to_bytes())
    (folder / f"{EXAMPLES}{_TENSORS}").write_bytes(exact.to_bytes())


def read_right(folder: Path) -> tuple[RightContents, Tensors]:
    """What is right. Raises HandoutError."""
    contents, tensors = _read(RightContents, folder, RIGHT)
    return contents, Tensors(tensors)


def read_mistakes_of(folder: Path) -> tuple[MistakeContents, RoundedRow, Tensors]:
    """What is known of mistakes; nothing, where nothing was written. Raises HandoutError."""
    if not (folder / f"{MISTAKES}{_JSON}").exists():
        return MistakeContents(mistakes=(), shown=()), RoundedRow(), Tensors()
    contents, tensors = _read(MistakeContents, folder, MISTAKES)
    return contents, RoundedRow(tensors["row"].numpy()), Tensors(_tensors(folder / f"{EXAMPLES}{_TENSORS}"))


def _write(stem: Path, contents: Record, tensors: bytes) -> None:
    stem.with_suffix(_JSON).write_text(contents.model_dump_json(), encoding="utf-8")
    stem.with_suffix(_TENSORS).write_bytes(tensors)


def _read(kind: type[Contents], folder: Path, name: str) -> tuple[Contents, dict[str, Any]]:
    file = folder / f"{name}{_JSON}"
    try:
        contents = kind.model_validate_json(file.read_bytes())
    except OSError as error:
        raise damaged(file, error.strerror or "it cannot be read") from None
    except ValidationError as error:
        raise damaged(file, first_fault(error)) from None
    return contents, _tensors(folder / f"{name}{_TENSORS}")


def _tensors(file: Path) -> dict[str, Any]:
    try:
        return read_tensors(file)
    except OSError as error:
        raise damaged(file, error.strerror or "it cannot be read") from None
    except safetensors.SafetensorError as error:
        raise damaged(file, str(error)) from None
