"""A roster's file becomes entries: commas or semicolons, UTF-8, heads as people and platforms write them.

What cannot be understood stops the reading, with its line: a name that silently went missing would be a student who is
"missing", or a stranger.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from grader.handed_in import Person
from grader.record import clean_text
from grader.roster.columns import WHO, Column, columns_of

#: Bytes of a roster; that of fifty thousand people is smaller.
MOST_BYTES = 16 * 1024 * 1024
_YES = frozenset({"yes", "y", "true", "1", "x", "late"})
_NO = frozenset({"no", "n", "false", "0", "on time", "-"})
_PARTICIPANT = re.compile(r"\D*?(?P<id>\d+)")
#: Rows of a Canvas gradebook that are nobody: what an assignment is worth, and the student that teachers test with.
_NOBODY = ("points possible", "student, test", "test student")
_MUTED = frozenset({"muted", "manual posting"})


class RosterError(Exception):
    """A roster cannot be read; the text says in which line, what was found, what was wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Somebody who is in the class."""

    #: Line of the file it begins on.
    line: int
    person: Person
    #: Numbers that it is known by, the platform's own first.
    ids: tuple[str, ...] = ()
    logins: tuple[str, ...] = ()
    section: str = ""
    groups: tuple[str, ...] = ()
    submitted_at: datetime | None = None
    extension_hours: float = 0.0
    #: Whether it was late; None where the roster does not say.
    is_late: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """A class, as somebody wrote it down."""

    #: Name of the file.
    name: str
    entries: tuple[Entry, ...]
    #: What a TA should know of it.
    remarks: tuple[str, ...] = ()


def read_roster(path: Path) -> Roster:
    """The people in a roster.

    Raises:
        RosterError: the file is missing, damaged, or holds what cannot be understood.
    """
    rows = _rows(_text(path), path)
    try:
        heads_at, heads = next(rows)
    except StopIteration:
        raise RosterError(f"{path} is empty; wanted a line with the names of the columns, then a line each") from None
    try:
        columns = columns_of(heads)
    except ValueError as problem:
        raise RosterError(f"{path}, line {heads_at}: {problem}") from None
    if not any(column in columns for column in WHO):
        wanted = ", ".join(column.value for column in WHO)
        shown = ", ".join(clean_text(head[:30]) for head in heads[:8])
        raise RosterError(
            f"{path}, line {heads_at}: no column says who somebody is (got {shown}); wanted one of {wanted}"
        )
    remarks: list[str] = []
    entries = [
        _entry(path, line, _Row(cells, columns), remarks)
        for line, cells in rows
        if not _is_nobody(cells, _Row(cells, columns))
        if _fits(path, line, cells, len(heads))
    ]
    if not entries:
        raise RosterError(f"{path} holds nobody: there is no line below the names of the columns")
    return Roster(name=path.name, entries=tuple(_without_doubles(path, entries, remarks)), remarks=tuple(remarks))


@dataclass(frozen=True, slots=True)
class _Row:
    """The cells of a line, by what they say."""

    cells: Sequence[str]
    columns: Mapping[Column, int]

    def __getitem__(self, column: Column) -> str:
        place = self.columns.get(column)
        return " ".join(self.cells[place].split()) if place is not None and place < len(self.cells) else ""


def _text(path: Path) -> str:
    try:
        with open(path, "rb") as file:  # a device or a pipe does not say how large it is
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise RosterError(f"{path}: {error.strerror}; wanted the class's roster, a CSV file") from None
    if len(data) > MOST_BYTES:
        raise RosterError(f"{path} is larger than {MOST_BYTES >> 20} MiB, as no roster is")
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"PK\x03\x04")):
        raise RosterError(f"{path} is no CSV file in UTF-8; save it in the spreadsheet as 'CSV UTF-8'")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RosterError(
            f"{path}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8; the file is perhaps Latin-1 or "
            "Windows-1252: save it as 'CSV UTF-8', lest names are read wrong"
        ) from None


def _rows(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line and cells of each row that is not empty."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begins = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise RosterError(
                f'{path}, line {begins}: {error}; a quote (") in a cell is written twice, with quotes around the cell'
            ) from None
        if any(cell.strip() for cell in cells):
            yield begins, cells
        begins = reader.line_num + 1


def _fits(path: Path, line: int, cells: Sequence[str], width: int) -> bool:
    if any(cell.strip() for cell in cells[width:]):
        raise RosterError(
            f"{path}, line {line}: {len(cells)} cells, and {width} columns; a cell that holds the sign between cells "
            "needs quotes around it"
        )
    return True


def _is_nobody(cells: Sequence[str], row: _Row) -> bool:
    """Whether it is one of the rows that a Canvas gradebook has beside those of students."""
    first = cells[0].strip().casefold()
    return (
        first in _NOBODY
        or row[Column.NAME].casefold() in _NOBODY
        or (not first and {cell.strip().casefold() for cell in cells} - {""} <= _MUTED)
    )


def _entry(path: Path, line: int, row: _Row, remarks: list[str]) -> Entry:
    name, email, ids, logins = _who(row)
    if not (name or email or ids or logins):
        raise RosterError(f"{path}, line {line}: nothing says who this is; wanted a name, an e-mail address or an id")
    at = f"{path}, line {line}"
    hours = _number(at, row, Column.HOURS) + 24 * _number(at, row, Column.DAYS)
    return Entry(
        line=line,
        person=Person(name=name, email=email, lms_id=ids[0] if ids else "", login=logins[0] if logins else ""),
        ids=ids,
        logins=logins,
        section=row[Column.SECTION],
        groups=tuple(group.strip() for group in re.split(r"[,;]", row[Column.GROUP]) if group.strip()),
        submitted_at=_time(at, row[Column.SUBMITTED_AT], remarks),
        extension_hours=hours,
        is_late=_late(at, row[Column.LATE]) if row[Column.LATE] else None,
    )


def _who(row: _Row) -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:
    """Name, e-mail address, ids and logins."""
    name, email, identifier = row[Column.NAME], row[Column.EMAIL], row[Column.IDENTIFIER]
    if row[Column.FIRST] or row[Column.LAST]:
        name = f"{row[Column.FIRST]} {row[Column.LAST]}".strip()
    ids = [row[Column.LMS_ID], row[Column.STUDENT_ID]]
    if "@" in identifier:
        email = email or identifier
    elif identifier and (number := _PARTICIPANT.fullmatch(identifier)):
        ids.insert(0, number["id"])  # Moodle: "Participant 1234"
        ids.append(identifier)
    elif identifier:
        ids.append(identifier)
        name = name or identifier
    if name.count(",") == 1:  # Canvas sorts: "Doe, Jane"
        last, _, first = name.partition(",")
        name = f"{first.strip()} {last.strip()}".strip()
    logins = [row[Column.GITHUB], row[Column.LOGIN]]
    return name, email, _unique(ids), _unique(logins)


def _unique(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value))


def _number(at: str, row: _Row, column: Column) -> float:
    text = row[column]
    if not text:
        return 0.0
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        number = -1.0
    if not 0 <= number < 24 * 3660:
        raise RosterError(f"{at}, {column.value}: got {clean_text(text[:30])!r}, wanted a number, 0 or more")
    return number


def _late(at: str, text: str) -> bool:
    word = text.casefold()
    if word not in _YES | _NO:
        raise RosterError(f"{at}, late: got {clean_text(text[:30])!r}, wanted yes or no")
    return word in _YES


def _time(at: str, text: str, remarks: list[str]) -> datetime | None:
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is None:
            time = time.astimezone()
            note = f"times without a zone are taken as those of this machine ({time:%Z}, UTC{time:%z})"
            if note not in remarks:
                remarks.append(note)
        return time
    except (ValueError, OverflowError, OSError):
        raise RosterError(
            f"{at}, submitted_at: got {clean_text(text[:40])!r}, wanted a time like 2026-03-01T23:59:00+01:00"
        ) from None


def _without_doubles(path: Path, entries: Sequence[Entry], remarks: list[str]) -> Iterator[Entry]:
    """Each person once: the same line again is left out, another one with the same key is an error.

    Raises:
        RosterError: two lines contradict each other.
    """
    seen: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        keys = _keys(entry)
        others = [seen[key] for key in keys if key in seen]
        if not others:
            seen |= dict.fromkeys(keys, entry)
            yield entry
            continue
        first = others[0]
        if _facts(first) != _facts(entry):
            key = next(key for key in keys if key in seen)
            raise RosterError(
                f"{path}, line {entry.line}: {key[0]} {clean_text(key[1])} is that of line {first.line} too, and the "
                "rest differs; leave one of the two lines, or put it right"
            )
        remarks.append(f"line {entry.line} repeats line {first.line}, and is left out")


def _keys(entry: Entry) -> list[tuple[str, str]]:
    return [
        *(("id", id) for id in entry.ids[:1]),
        *(("login", login.casefold()) for login in entry.logins),
        *([("email", entry.person.email.casefold())] if entry.person.email else []),
    ]


def _facts(entry: Entry) -> tuple[object, ...]:
    """All that an entry says but its line, section and groups: somebody can be in two."""
    return entry.person, entry.ids, entry.logins, entry.submitted_at, entry.extension_hours, entry.is_late
