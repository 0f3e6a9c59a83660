"""A Moodle download: a folder per student, the same as older versions write it, or flat.

    <Full name>_<id>_assignsubmission_file/...         since 3.1
    <Full name>_<id>_assignsubmission_file_/...        before
    <Full name>_<id>_assignsubmission_file_<file>      without folders
    <Full name>_<id>_assignsubmission_onlinetext...    a text instead of files

For a team it is `<Group>_<group id>`, or `<Default group>` alone; with blind marking `Participant_<id>`, in the site's
language. Blanks stand for what was `_` in a name. Source: `mod/assign/classes/downloader.php` of moodle/moodle.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.find import Found, Piece
from grader.handed_in import Person
from grader.layouts.layout import Layout, counted, named
from grader.layouts.listing import Listing, folder_of_student
from grader.record import clean_text

_FORM = re.compile(
    r"(?P<who>.*?)(?:_(?P<id>\d+))?_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?", re.DOTALL
)  # the first mark counts: what follows may be a student's own words


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What the name of one entry says."""

    entry: str
    who: str
    #: Number of the participant or the group; empty where there is none.
    id: str
    #: How it was handed in: `file`, `onlinetext`, or a plugin's name.
    kind: str
    #: Name of the file, in a flat download; empty for a folder.
    file: str
    is_folder: bool

    @property
    def submission(self) -> str:
        """Whose it is, as an id."""
        return f"{self.who}_{self.id}" if self.id else self.who


def read_name(name: str, *, is_folder: bool) -> Entry | None:
    """What an entry's name says; None when Moodle gives no such names."""
    match = _FORM.fullmatch(unicodedata.normalize("NFC", name))
    if match is None or not (match["who"] or match["id"]) or is_folder == bool(match["file"]):
        return None
    return Entry(
        entry=name,
        who=match["who"],
        id=match["id"] or "",
        kind=match["kind"],
        file=match["file"] or "",
        is_folder=is_folder,
    )


def is_moodle(listing: Listing) -> bool:
    """Whether most of what lies there has such a name."""
    fitting = len(_entries(listing))
    return fitting > 0 and 2 * fitting >= len(listing.files) + len(listing.folders)


def read_moodle(folder: Path, listing: Listing) -> Layout:
    """The submissions of a Moodle download, by participant or team."""
    entries = _entries(listing)
    groups: dict[str, list[Entry]] = defaultdict(list)
    for one in entries:
        groups[one.submission].append(one)
    nobody = _blind_names(entries)
    found = [_submission(folder, group, nobody) for group in groups.values()]
    fitting = {one.entry for one in entries}
    others = [name for name in (*listing.files, *listing.folders) if name not in fitting]
    files = [one for one in entries if one.kind == "file"]
    form = "a folder each" if all(one.is_folder for one in files) else f"{counted(len(files), 'file')} without folders"
    blind = ", without names (blind marking)" if nobody else ""
    return Layout(
        summary=f"Moodle download: {counted(len(found), 'student or team', 'students or teams')}, {form}{blind}",
        submissions=tuple(found),
        remarks=(f"{named(others)}: not named as Moodle names a submission, and left",) if others else (),
    )


def _entries(listing: Listing) -> list[Entry]:
    pairs = [*((name, False) for name in listing.files), *((name, True) for name in listing.folders)]
    return [one for name, is_folder in pairs if (one := read_name(name, is_folder=is_folder))]


def _blind_names(entries: Sequence[Entry]) -> frozenset[str]:
    """What stands for every name where marking is blind: the same word, in whatever language."""
    names = {one.who for one in entries}
    is_blind = names == {"Participant"} or (len(names) == 1 and len({one.id for one in entries}) > 1)
    return frozenset(names) if is_blind else frozenset()


def _submission(folder: Path, group: Sequence[Entry], nobody: Collection[str]) -> Found:
    first = group[0]
    notes = tuple(
        f"handed in in Moodle itself as {'a text' if one.kind == 'onlinetext' else one.kind} "
        f"({clean_text(one.entry)}); not read"
        for one in group
        if one.kind != "file"
    )
    person = Person(name="" if first.who in nobody else first.who, lms_id=first.id)
    own = [one for one in group if one.kind == "file"]
    id = clean_text(first.submission)
    if len(own) == 1 and own[0].is_folder:
        found = folder_of_student(id, folder / own[0].entry, notes)
        return Found(id=id, path=found.path, pieces=found.pieces, notes=notes, people=(person,))
    pieces = tuple(Piece(path=folder / one.entry, name=one.file or one.entry, is_folder=one.is_folder) for one in own)
    return Found(id=id, path=folder, pieces=pieces, notes=notes, people=(person,))
