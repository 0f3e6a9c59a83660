"""A Gradescope export: `submission_metadata.yml`, and a folder `submission_<number>` each.

    submission_123:
      :submitters:
      - :name: Ada Lovelace
        :sid: '100'
        :email: ada@example.edu
      :created_at: 2026-03-01 09:30:00.123456000 Z
      :results: ...

Several submitters are a group; `:sid` and `:email` may be missing. Gradescope does not publish the form: it is that of
the exports, and of programs that read them. Only the lines of submitters and times are parsed: the rest are results of
an earlier autograder, megabytes in which students' own words stand. Times without a zone are UTC.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import yaml

from grader.find import Found
from grader.handed_in import HandIn, Person, TimeSource
from grader.intake.regular import Unreadable, read_regular
from grader.layouts.layout import Layout, LayoutError, counted, named
from grader.layouts.listing import Listing, folder_of_student
from grader.record import clean_text

METADATA = "submission_metadata.yml"
#: Bytes of it: results of a large class have been seen with 50 MiB.
MOST_METADATA = 256 * 1024 * 1024
_FOLDER = re.compile(r"submission_\d+")
_KEY = re.compile(r"  :?(?P<key>[A-Za-z_]+):")
_WANTED = frozenset({"submitters", "created_at"})
_WHAT_TO_DO = "export the submissions again, or remove the file to grade without names and times"


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """What the metadata say of one submission."""

    people: tuple[Person, ...]
    time: datetime | None


def is_gradescope(listing: Listing) -> bool:
    """Whether there are metadata, or most folders are called as in an export."""
    fitting = sum(_FOLDER.fullmatch(name) is not None for name in listing.folders)
    return (METADATA in listing.files and bool(listing.folders)) or (
        fitting > 0 and 2 * fitting >= len(listing.files) + len(listing.folders)
    )


def read_gradescope(folder: Path, listing: Listing) -> Layout:
    """The submissions of an export.

    Raises:
        LayoutError: the metadata are damaged.
    """
    remarks: list[str] = []
    told: Mapping[str, Submitted] = {}
    if METADATA in listing.files:
        told = read_metadata(_text(folder / METADATA), METADATA)
    else:
        remarks.append(f"{METADATA} is missing: names and times are not known; it lies at the top of an export")
    found = [_submission(folder / name, name, told.get(name)) for name in listing.folders]
    others = [name for name in listing.files if name != METADATA]
    if others:
        remarks.append(f"{named(others)}: in no folder of a submission, and left")
    if lost := set(told) - set(listing.folders):
        remarks.append(f"{METADATA} tells of {named(lost)}, which the export does not hold: export it again")
    unknown = [name for name in listing.folders if told and name not in told]
    if unknown:
        remarks.append(f"{METADATA} does not tell whose {named(unknown)} is")
    chosen = list(_unique(found, remarks))
    people = sum(len(one.people) for one in chosen)
    students = f" of {counted(people, 'student')}" if people else ""
    return Layout(
        summary=f"Gradescope export: {counted(len(chosen), 'submission')}{students}",
        submissions=tuple(chosen),
        remarks=tuple(remarks),
    )


def read_metadata(text: str, where: str) -> dict[str, Submitted]:
    """Who handed in what and when, by folder.

    Raises:
        LayoutError: the text is damaged.
    """
    try:
        loaded = yaml.safe_load("\n".join(_wanted_lines(text)))
    except yaml.MarkedYAMLError as error:
        at = f" near submission {_submission_at(text, error)}" if error.problem_mark else ""
        raise LayoutError(f"{where} is damaged{at}: {error.problem}; {_WHAT_TO_DO}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise LayoutError(f"{where} is damaged: {clean_text(str(error))}; {_WHAT_TO_DO}") from None
    if not isinstance(loaded, dict):
        raise LayoutError(f"{where} tells of no submission (wanted lines like 'submission_123:'); {_WHAT_TO_DO}")
    return {str(name): _submitted(entry, f"{where}, {name}") for name, entry in loaded.items()}


def _text(path: Path) -> str:
    try:
        data = read_regular(str(path), MOST_METADATA, f"it is larger than {MOST_METADATA >> 20} MiB")
    except Unreadable as problem:
        raise LayoutError(f"{path}: {problem}; {_WHAT_TO_DO}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise LayoutError(f"{path} is damaged: line {line} is not UTF-8; {_WHAT_TO_DO}") from None


def _wanted_lines(text: str) -> Iterator[str]:
    """The keys of the submissions, and of each what says whose it is and when it came.

    A key of a submission stands two blanks deep, and everything of its value deeper, or as the `-` of a list.
    """
    is_wanted = False
    for line in text.split("\n"):
        line = line.rstrip("\r")
        if line and not line.startswith((" ", "#", "-")):
            is_wanted = False
            yield line
        elif match := _KEY.match(line):
            is_wanted = match["key"] in _WANTED
            if is_wanted:
                yield line
        elif is_wanted:
            yield line


def _submission_at(text: str, error: yaml.MarkedYAMLError) -> str:
    """The submission in whose lines the trouble is."""
    assert error.problem_mark is not None
    lines = list(_wanted_lines(text))[: error.problem_mark.line + 1]
    keys = [line for line in lines if not line.startswith((" ", "-"))]
    return clean_text(keys[-1].partition(":")[0][:60]) if keys else "1"


def _submitted(entry: Any, where: str) -> Submitted:
    if not isinstance(entry, dict):
        raise LayoutError(f"{where}: got {_shown(entry)}, wanted submitters and a time; {_WHAT_TO_DO}")
    submitters = _value(entry, "submitters") or []
    if not isinstance(submitters, list) or not all(isinstance(one, dict) for one in submitters):
        raise LayoutError(f"{where}, submitters: got {_shown(submitters)}, wanted a list of people; {_WHAT_TO_DO}")
    people = [
        Person(
            name=_said(one, "name"),
            email=_said(one, "email"),
            lms_id=_said(one, "sid"),
        )
        for one in submitters
    ]
    return Submitted(people=tuple(one for one in people if one.label), time=_time(_value(entry, "created_at"), where))


def _value(entry: Mapping[Any, Any], key: str) -> Any:
    """A field, under its Ruby symbol or as a plain word."""
    return entry.get(f":{key}", entry.get(key))


def _said(entry: Mapping[Any, Any], key: str) -> str:
    value = _value(entry, key)
    return " ".join(str(value).split()) if isinstance(value, str | int) else ""


def _time(value: Any, where: str) -> datetime | None:
    if value is None or value == "":
        return None
    try:
        time = value if isinstance(value, date) else datetime.fromisoformat(str(value).strip())
    except ValueError:
        time = None
    if not isinstance(time, datetime):
        raise LayoutError(f"{where}, created_at: got {_shown(value)}, wanted a date with a time; {_WHAT_TO_DO}")
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _shown(value: Any) -> str:
    return clean_text(repr(value)[:60])


def _submission(folder: Path, name: str, told: Submitted | None) -> Found:
    people = told.people if told else ()
    found = folder_of_student(_id(people) or clean_text(name), folder)
    time = told.time if told else None
    return replace(
        found,
        people=people,
        handed_in=HandIn(source=TimeSource.PLATFORM, time=time) if time else None,
    )


def _id(people: Iterable[Person]) -> str:
    """The people, not the submission: its number is another one when they hand in again."""
    group = sorted(people, key=lambda one: (one.name, one.lms_id, one.email))
    return clean_text(" + ".join(map(_own_id, group)))


def _own_id(person: Person) -> str:
    key = person.lms_id or person.email
    return f"{person.name}_{key}" if person.name and key else person.name or key


def _unique(found: Iterable[Found], remarks: list[str]) -> Iterator[Found]:
    """One submission a student or group: of several with the same keys the last; people of one name stay apart."""
    groups: dict[tuple[object, ...], list[Found]] = {}
    for one in found:  # not by id alone: somebody can have called themselves what another one's id is
        keys = frozenset((person.name, person.lms_id or person.email) for person in one.people)
        groups.setdefault((one.id, keys), []).append(one)
    for (id, _), group in groups.items():
        if len(group) == 1:
            yield group[0]
        elif all(person.lms_id or person.email for person in group[0].people):
            newest = max(group, key=_when)
            left = [one.path.name for one in group if one is not newest]
            remarks.append(
                f"{id} has {len(group)} submissions: {newest.path.name}, the last, counts; {named(left)} not"
            )
            yield newest
        else:
            yield from (replace(one, id=f"{id} ({clean_text(one.path.name)})") for one in group)


def _when(found: Found) -> tuple[datetime, int, str]:
    time = found.handed_in.time if found.handed_in else None
    number = found.path.name.rpartition("_")[2]
    return time or datetime.min.replace(tzinfo=UTC), int(number) if number.isdecimal() else 0, found.path.name
