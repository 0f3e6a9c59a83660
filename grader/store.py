"""What a run leaves on the disk, so that nothing finished is ever lost.

A run writes a journal, one line a submission, each written in one piece; report.json and what is made from it are
replaced whole at the end. A torn last line, all that `kill -9` can leave, is dropped when the journal is read.

What replaces the only copy of something is forced onto the disk first: a journal that is begun anew with the entries
of an earlier one, and report.json, for which the journal is removed. A line of the journal is not: when the power
fails, the last seconds of work are graded again.
"""

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from grader.fault import Fault
from grader.report import RunHeader, Submission
from grader.report_json import ReportError, from_json, json_chunks, submission_from_json
from grader.whole_file import TORN, replace_whole

REPORT = "report.json"
JOURNAL = "journal.jsonl"
#: What staff decided; read by runs, and written by people only.
OVERRIDES = "overrides.csv"
_LOCK = ".lock"
#: An adjustment in JSON. What a student wrote cannot look like it: its quotation marks are escaped.
_OVERRIDE = re.compile(rb'"kind": ?"override"')


class StoreError(Fault):
    """The output folder cannot be used; the text says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What an earlier run left: its header, and the ids of what it finished."""

    header: RunHeader
    submissions: dict[str, Submission]


class Store:
    """The output folder of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def report(self) -> Path:
        return self.folder / REPORT

    @property
    def journal(self) -> Path:
        return self.folder / JOURNAL

    @property
    def overrides(self) -> Path:
        return self.folder / OVERRIDES

    @property
    def is_used(self) -> bool:
        """Whether a run has written here."""
        return self.report.exists() or self.journal.exists()

    def holds_overrides(self) -> bool:
        """Whether what an earlier run left has scores that staff decided."""
        files = [file for file in (self.report, self.journal) if file.exists()]
        return any(_OVERRIDE.search(file.read_bytes()) for file in files)

    def must_be_usable(self) -> None:
        """Raises StoreError when the folder is a file, or holds things no run has written, but for overrides."""
        if self.folder.exists() and not self.folder.is_dir():
            raise StoreError(f"{self.folder} is a file; wanted a folder for the reports (-o)")
        if self.folder.is_dir() and not self.is_used and any(not _is_left(path) for path in self.folder.iterdir()):
            raise StoreError(f"{self.folder} is not empty and holds no report; name an empty or a new folder with -o")

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs out of the folder until the end of the block, or of this process.

        The folder is made; one that was made for nothing is removed again.

        Raises:
            StoreError: another run is writing here, or nothing can be written here.
        """
        is_new = not self.folder.exists()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor = self._lock()
        except OSError as error:
            raise StoreError(
                f"{error.filename or self.folder}: {error.strerror}; no report can be written there: put that right, "
                "or name another folder with -o"
            ) from None
        try:
            yield
        finally:
            (self.folder / _LOCK).unlink(missing_ok=True)
            os.close(descriptor)
            if is_new:
                with contextlib.suppress(OSError):  # there is something in it
                    self.folder.rmdir()

    def earlier(self) -> Earlier | None:
        """What the last run left, finished or not.

        Raises:
            ReportError: its report is damaged, or of another version.
        """
        if self.journal.exists():
            return self._from_journal()
        if not self.report.exists():
            return None
        report = from_json(self.report.read_bytes(), str(self.report))
        header = RunHeader(**{name: getattr(report, name) for name in RunHeader.model_fields})
        return Earlier(header=header, submissions={one.id: one for one in report.submissions})

    def begin(self, header: RunHeader, kept: Iterable[Submission]) -> None:
        """Start the journal of a run, with the entries that are kept of an earlier one."""
        lines = [_line(header), *(_line(submission) for submission in kept)]
        self.write(JOURNAL, "".join(lines), is_forced=True)

    def add(self, submission: Submission) -> None:
        """Note a finished submission, whole or not at all; a later line about the same one counts."""
        descriptor = os.open(self.journal, os.O_WRONLY | os.O_APPEND)
        size = os.fstat(descriptor).st_size
        try:
            data = _line(submission).encode()
            while data:
                data = data[os.write(descriptor, data) :]
        except OSError as error:
            os.ftruncate(descriptor, size)
            raise _about(error, self.journal) from None
        finally:
            os.close(descriptor)

    def finish(self, header: RunHeader) -> None:
        """Write report.json from the journal, by id."""
        self.write(REPORT, json_chunks(header, self.submissions()), is_forced=True)

    def clear_journal(self) -> None:
        """Forget the journal, once everything that is made from it is written, and what killed writes left."""
        self.journal.unlink(missing_ok=True)
        for path in self.folder.iterdir():
            if _is_torn(path):
                path.unlink(missing_ok=True)

    def submissions(self) -> Iterator[Submission]:
        """The journal's entries by id, one in memory at a time."""
        with open(self.journal, "rb") as journal:
            places = _places(journal)
            for _, place in sorted(places.items()):
                journal.seek(place)
                yield submission_from_json(journal.readline(), str(self.journal))

    def write(self, name: str, text: str | Iterable[str], *, is_forced: bool = False) -> None:
        """Replace a file whole: at any moment it is the old one or the new one.

        `is_forced`: have it on the disk before this returns, so that it outlives a loss of power.
        """
        path = self.folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            pieces = [text] if isinstance(text, str) else text
            replace_whole(path, (piece.encode() for piece in pieces), is_forced=is_forced)
        except OSError as error:
            raise _about(error, path) from None

    def keep_only(self, folder: str, names: Collection[str]) -> None:
        """Remove pages of an earlier run that this one has not, and what killed writes left."""
        for path in (self.folder / folder).glob("*"):
            if (path.suffix == ".html" and path.name not in names) or _is_torn(path):
                path.unlink(missing_ok=True)

    def _lock(self) -> int:
        """A descriptor that holds the lock; it ends with the process, even with one that is killed."""
        path = self.folder / _LOCK
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                raise StoreError(
                    f"{self.folder} is in use by another run of grade; wait for its end, or name another folder with -o"
                ) from None
            except OSError:  # a file system that knows no locks
                return descriptor
            if _is_file(path, descriptor):
                return descriptor
            os.close(descriptor)  # its owner removed it in this moment; the next one may have another

    def _from_journal(self) -> Earlier:
        with open(self.journal, "rb") as journal:
            first = journal.readline()
        try:
            header = RunHeader.model_validate_json(first)
        except ValueError:
            raise ReportError(
                str(self.journal), "no header in its first line", "a journal; start afresh with --force"
            ) from None
        return Earlier(header=header, submissions={one.id: one for one in self.submissions()})


def _is_left(path: Path) -> bool:
    """Whether it is nothing but what a killed run left, or what staff put there for the next one."""
    return _is_torn(path) or path.name in (_LOCK, OVERRIDES)


def _is_torn(path: Path) -> bool:
    """Whether it is what a killed `Store.write` left."""
    return path.name.startswith(".") and path.suffix == TORN


def _is_file(path: Path, descriptor: int) -> bool:
    """Whether the name still leads to the file that is open."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _about(error: OSError, path: Path) -> OSError:
    """The same error, naming the file as a person knows it, rather than none or a temporary one."""
    return OSError(error.errno, error.strerror, str(path)) if error.errno else error


def _line(record: RunHeader | Submission) -> str:
    return record.model_dump_json() + "\n"


def _places(journal: BinaryIO) -> dict[str, int]:
    """Where the last whole line about each submission begins."""
    places: dict[str, int] = {}
    journal.readline()
    place = journal.tell()
    for line in iter(journal.readline, b""):
        with contextlib.suppress(ValueError, TypeError, KeyError):  # torn or damaged: as if it had not been written
            places[json.loads(line)["id"]] = place
        place = journal.tell()
    return places
