"""From the folder or zip that a TA names to the submissions in it. The way into this package."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from grader.find import Found
from grader.layouts.canvas import is_canvas, read_canvas
from grader.layouts.class_zip import DamagedZip, names_in, unpacked
from grader.layouts.clones import with_commits
from grader.layouts.gradescope import is_gradescope, read_gradescope
from grader.layouts.last_commit import is_clone
from grader.layouts.layout import Layout
from grader.layouts.listing import Listing, listing_at_top, listing_of
from grader.layouts.moodle import is_moodle, read_moodle
from grader.layouts.plain import read_plain, read_single
from grader.names import archive_id, file_of, folder_of, stands_for


@contextmanager
def read_class(place: Path, stubs: Sequence[str], *, is_single: bool = False) -> Iterator[Layout]:
    """The submissions in a folder, or in the zip of a class, which is unpacked until the end of the block.

    Args:
        place: a folder; a zip as a platform gives it; or one student's folder or archive.
        stubs: names of the stub files of all assignments that may be meant.
        is_single: whether it is one student's, who may have made it look like a class with names and times.

    Raises:
        FindError: there is no submission.
        LayoutError: it is a platform's download, and damaged.
    """
    if is_single:
        yield with_commits(read_single(place))
        return
    packed = _zip_at(place)
    if packed is None or not _is_zip_of_class(packed, stubs):
        yield _read(place, stubs)
        return
    with unpacked(packed) as (folder, remarks):
        layout = _read(folder, stubs)
        yield replace(layout, remarks=(*remarks, *layout.remarks))


def _read(folder: Path, stubs: Sequence[str]) -> Layout:
    if folder.is_dir():
        listing = listing_of(folder)
        if (layout := _read_platforms(folder, listing, stubs)) is not None:
            return _unique(layout)
        inner = listing.only_folder
        if inner and not is_clone(folder / inner) and (layout := _read_inside(folder / inner, stubs)) is not None:
            return _unique(layout)
    return with_commits(read_plain(folder, stubs))


def _unique(layout: Layout) -> Layout:
    """Ids of their own: what cannot be shown is spelt out in an id, and may then be like another."""
    found: dict[str, Found] = {}
    for one in layout.submissions:
        id, number = one.id, 1
        while id in found:
            number += 1
            id = f"{one.id} ({number})"
        found[id] = replace(one, id=id)
    return replace(layout, submissions=tuple(found.values()))


def _read_inside(folder: Path, stubs: Sequence[str]) -> Layout | None:
    return _read_platforms(folder, listing_of(folder), stubs)


def _read_platforms(folder: Path, listing: Listing, stubs: Sequence[str]) -> Layout | None:
    """What a platform handed out; None when it is of none."""
    match _platform(listing, stubs):
        case "Moodle":
            return read_moodle(folder, listing)
        case "Gradescope":
            return read_gradescope(folder, listing)
        case "Canvas":
            return read_canvas(folder, listing, stubs)
    return None


def _platform(listing: Listing, stubs: Sequence[str]) -> str | None:
    if listing.holds(stubs):  # somebody's homework, whatever they put beside it
        return None
    if is_moodle(listing):
        return "Moodle"
    if is_gradescope(listing):
        return "Gradescope"
    return "Canvas" if is_canvas(listing, stubs) else None


# --- zips ---------------------------------------------------------------------------------------------------------


def _zip_at(place: Path) -> Path | None:
    """The zip that was named, or that is all there is in the folder that was."""
    if place.is_dir():
        inside = listing_of(place)
        place = place / inside.files[0] if len(inside.files) == 1 and not inside.folders else place
    return place if place.is_file() and place.name.lower().endswith(".zip") else None


def _is_zip_of_class(place: Path, stubs: Sequence[str]) -> bool:
    """Whether it is a zip with many students' submissions; one student's zip is opened by intake.

    Raises:
        LayoutError: it is a platform's, and damaged.
    """
    try:
        names = names_in(place)
    except DamagedZip as problem:
        if problem.first and _is_of_platform([problem.first], stubs):
            raise
        return False  # perhaps a student's: the report says that it is damaged
    return _is_of_platform(names, stubs) or _holds_several(names, stubs)


def _is_of_platform(names: Collection[str], stubs: Sequence[str]) -> bool:
    top = listing_at_top(names)
    below = _below(names, top.only_folder) if top.only_folder else []
    return any(_platform(listing, stubs) for listing in (top, listing_at_top(below)))


def _holds_several(names: Collection[str], stubs: Sequence[str]) -> bool:
    """Whether a zip holds folders or archives of several students, in plain order: as the folder would be read."""
    top = listing_at_top(names)
    if top.only_folder and not top.files:
        return _are_several(_below(names, top.only_folder), stubs)
    return _are_several(names, stubs)


def _are_several(names: Collection[str], stubs: Sequence[str]) -> bool:
    top = listing_at_top(names)
    if top.holds(stubs):
        return False
    homes = {folder_of(name) for name in names if any(stands_for(file_of(name), stub) for stub in stubs)}
    folders = [name for name in top.folders if name in homes]
    archives = [name for name in top.files if archive_id(name) is not None]
    return len(folders) + len(archives) > 1


def _below(names: Collection[str], folder: str) -> list[str]:
    return [name.removeprefix(f"{folder}/") for name in names if name.startswith(f"{folder}/")]
