"""What a handout's record is about, and where it is. Needs no torch: it is read before anything slow begins."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import ValidationError

from grader import __version__
from grader.assignment import Assignment
from grader.fault import Fault
from grader.names import RECORDS
from grader.record import Record
from grader.report import FeedbackLevel

FORMAT: Final = 1
HEADER = "header.json"


class HandoutError(Fault):
    """A handout cannot be used; the text says where, what was found, what to do."""


class Header(Record):
    """`header.json`."""

    format: Literal[1] = FORMAT
    """Version of the whole record's format."""
    version: str
    """Version of the grader that wrote it."""
    assignment: dict[str, Any]
    """The assignment, as `assignment.toml` states it; without prices, which name mistakes."""
    digest: str
    """Identity of the assignment as staff have it."""
    level: FeedbackLevel
    """How much a student is told."""
    seed: int
    """The published seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handout:
    """A handout that was unpacked. `folder`: of its record and checks; its name is the assignment's."""

    folder: Path
    header: Header

    @property
    def assignment(self) -> Assignment:
        """The assignment, without hidden checks. Raises HandoutError."""
        try:
            return Assignment.model_validate(self.header.assignment | {"folder": self.folder})
        except ValidationError as error:
            raise damaged(self.folder / HEADER, f"assignment.{first_fault(error)}") from None


def write_header(folder: Path, header: Header) -> None:
    """Write it into the folder of a record."""
    (folder / HEADER).write_text(header.model_dump_json(), encoding="utf-8")


def find_handout(start: Path, name: str | None = None) -> Handout | None:
    """The handout that a folder lies in, or that lies in it; None when there is none.

    Args:
        name: of the assignment, where a handout has several.

    Raises:
        HandoutError: there are several, or it cannot be used by this version.
    """
    for folder in (start.resolve(), *start.resolve().parents):
        records = [place for place in _records(folder) if name in (None, place.name)]
        if len(records) > 1:
            raise HandoutError(
                f"{folder / RECORDS} is about several assignments: {', '.join(one.name for one in records)}; say "
                "which one with -a"
            )
        if records:
            return _read(records[0])
    return None


def _records(folder: Path) -> Iterator[Path]:
    return (file.parent for file in sorted((folder / RECORDS).glob(f"*/{HEADER}")))


def _read(folder: Path) -> Handout:
    file = folder / HEADER
    try:
        header = Header.model_validate_json(file.read_bytes())
    except OSError as error:
        raise damaged(file, error.strerror or "it cannot be read") from None
    except ValidationError as error:
        raise damaged(file, first_fault(error)) from None
    if header.version != __version__:
        raise HandoutError(
            f"{folder} was made for grade {header.version}, and this is {__version__}: install the wheel that lies in "
            f"{folder.parent}"
        )
    return Handout(folder=folder, header=header)


def first_fault(error: ValidationError) -> str:
    """Which field does not fit, and how."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return f"{place}: {first['msg']}".removeprefix(": ")


def damaged(file: Path, found: str) -> HandoutError:
    """What to say of a file that does not hold what it must."""
    return HandoutError(
        f"{file}: {found}. The record is damaged, or of another version: unpack the course's handout again, and "
        "install the wheel that is in it"
    )
