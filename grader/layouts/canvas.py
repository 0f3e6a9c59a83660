"""A Canvas download (`submissions.zip`): flat, one entry per attachment, the student and the time mark in its name.

    <name>_[LATE_]<user id>_<attachment id>_<file>      <name>: "Doe, Jane" in small letters without what is no letter
    [LATE_]anon_<anonymous id>_<attachment id>_<file>   where grading is anonymous
    ..._text.html, ..._link.html                        a text or a link instead of files

Source: `lib/content_zipper.rb` of instructure/canvas-lms. A file handed in again gets `-1`, `-2` from Canvas.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.find import Found, Piece
from grader.handed_in import HandIn, Person, TimeSource
from grader.layouts.layout import Layout, counted, named
from grader.layouts.listing import Listing
from grader.names import is_python, stands_for
from grader.record import clean_text

_TAIL = r"_(?P<attachment>\d+)_(?P<file>.+)"
_ENTRY = r"_(?P<entry>text|link)\.html"
_ANONYMOUS = r"(?:(?P<late>LATE)_)?(?P<name>anon)_(?P<id>[A-Za-z0-9]+)"
_NAMED = r"(?P<name>.*?)_(?:(?P<late>LATE)_)?(?P<id>\d+)"
_FORMS = [re.compile(f"{who}{what}", re.DOTALL) for who in (_ANONYMOUS, _NAMED) for what in (_TAIL, _ENTRY)]
#: What Canvas adds to the name of a file that was handed in before.
_AGAIN = re.compile(r"-\d{1,4}(?=\.[^.]+$)")
#: A file's number in front of its name, when a group's own name ends in one: `team_2_345_678_mix.py`. Canvas counts
#: attachments, of which there are more than users; a number that is no higher is the student's own: `1_mix.py`.
_NUMBER = re.compile(r"(?P<id>\d+)_(?P<file>.+)", re.DOTALL)
_ENTRIES = {"text": "a text", "link": "a link"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """What the name of one entry says."""

    entry: str
    #: Name of the student or the group, as Canvas shortens it; `anon` where there is none.
    name: str
    #: User id, or the anonymous one.
    user: str
    is_late: bool
    #: Number of the attachment, later ones higher; -1 for a text or a link.
    number: int = -1
    #: Name of the file as it was handed in, or `text` or `link`.
    file: str

    @property
    def is_file(self) -> bool:
        """Whether it is a file, not a text or a link."""
        return self.number >= 0


def read_name(entry: str, stubs: Sequence[str] = ()) -> Attachment | None:
    """What an entry's name says; None when Canvas gives no such names."""
    found = next((match for form in _FORMS if (match := form.fullmatch(entry))), None)
    if found is None:
        return None
    said = found.groupdict()
    name, user, number, file = said["name"], said["id"], said.get("attachment"), said.get("file") or ""
    shifted = _NUMBER.fullmatch(file)
    if (
        shifted
        and not (name == "anon" or said["late"])  # in front of the mark is the whole name
        and int(shifted["id"]) > int(number or 0)
        and any(stands_for(shifted["file"], stub) for stub in stubs)
    ):
        name, user, number, file = f"{name}_{user}", number, shifted["id"], shifted["file"]
    return Attachment(
        entry=entry,
        name=unicodedata.normalize("NFC", name),
        user=user,
        is_late=said["late"] is not None,
        number=int(number) if number else -1,
        file=unicodedata.normalize("NFC", file or said["entry"]),
    )


def is_canvas(listing: Listing, stubs: Sequence[str]) -> bool:
    """Whether most of what lies there has such a name."""
    if listing.holds(stubs):
        return False
    fitting = sum(read_name(name) is not None for name in listing.files)
    return fitting > 0 and 2 * fitting >= len(listing.files) + len(listing.folders)


def read_canvas(folder: Path, listing: Listing, stubs: Sequence[str]) -> Layout:
    """The submissions of a Canvas download, by user."""
    attachments = [one for name in listing.files if (one := read_name(name, stubs))]
    students: dict[tuple[str, str], list[Attachment]] = defaultdict(list)
    for one in attachments:
        students[one.name, one.user].append(one)
    found = [_submission(folder, group, stubs) for group in students.values()]
    fitting = {one.entry for one in attachments}
    others = [name for name in (*listing.files, *listing.folders) if name not in fitting]
    return Layout(
        summary=_summary(attachments, found),
        submissions=tuple(found),
        remarks=(f"{named(others)}: not named as Canvas names a submission, and left",) if others else (),
    )


def _summary(attachments: Sequence[Attachment], found: Sequence[Found]) -> str:
    late = sum(one.handed_in is not None and one.handed_in.is_marked_late for one in found)
    is_anonymous = all(one.name == "anon" for one in attachments)
    return (
        f"{'Anonymous ' if is_anonymous else ''}Canvas download: {counted(len(attachments), 'file')} of "
        f"{counted(len(found), 'student')}" + (f", {late} marked late" if late else "")
    )


def _submission(folder: Path, group: Sequence[Attachment], stubs: Sequence[str]) -> Found:
    first = group[0]
    sorted_out = _SortedOut()
    names = _names([one.file for one in group if one.is_file], stubs)
    for one in sorted(group, key=lambda one: -one.number):
        sorted_out.add(folder, one, names)
    user = f"anon_{first.user}" if first.name == "anon" else first.user
    return Found(
        id=clean_text(user if first.name in ("", "anon") else f"{first.name}_{first.user}"),
        path=folder,
        pieces=tuple(sorted_out.pieces),
        notes=tuple(sorted_out.notes),
        people=(Person(lms_id=user),),
        handed_in=HandIn(source=TimeSource.PLATFORM, is_marked_late=any(one.is_late for one in group)),
    )


@dataclass(slots=True)
class _SortedOut:
    """The attachments of a student, the newest first: pieces to read, and notes on what is left."""

    pieces: list[Piece] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: Name of each file without the mark of a copy, to the name it was handed in as.
    newest: dict[str, str] = field(default_factory=dict)

    def add(self, folder: Path, one: Attachment, names: Mapping[str, str]) -> None:
        if not one.is_file:
            self.notes.append(
                f"{_ENTRIES[one.file]} was handed in in Canvas itself ({clean_text(one.entry)}); not read"
            )
            return
        name = names[one.file]
        key = name.casefold()
        if key in self.newest:
            self.notes.append(
                f"{clean_text(one.file)} was not read: {_later(one.file, self.newest[key])}, handed in later, counts"
            )
            return
        self.newest[key] = one.file
        self.pieces.append(Piece(path=folder / one.entry, name=name))


def _names(files: Sequence[str], stubs: Sequence[str]) -> dict[str, str]:
    """The name that each file had before Canvas marked it as handed in again.

    A mark may be a student's own number: `part-1.py` beside `part-2.py` is left as it is. An archive keeps its mark,
    since each may hold what another does not; intake puts them together.
    """
    short = {file: _AGAIN.sub("", file) for file in files}
    return {file: short[file] if _is_again(file, short, stubs) else file for file in files}


def _is_again(file: str, short: Mapping[str, str], stubs: Iterable[str]) -> bool:
    name = short[file]
    if file.lower().endswith(".ipynb") or any(stands_for(name, stub) for stub in stubs):
        return True
    alike = [other for other, plain in short.items() if plain == name]
    return is_python(file) and (alike == [file] or name in short)


def _later(older: str, newer: str) -> str:
    """What to call the newer of two files, which may have one name."""
    return "one of the same name" if older == newer else clean_text(newer)
