"""Folders and archives, one a student: what is in no platform's layout."""

from collections.abc import Iterable
from pathlib import Path

from grader.find import find_one, find_submissions, unread_archives
from grader.layouts.layout import Layout, counted


def read_plain(folder: Path, files: Iterable[str]) -> Layout:
    """The submissions in a folder, or the one that it is.

    Raises:
        FindError: there is none.
    """
    found = find_submissions(folder, files)
    archives = sum(one.is_archive for one in found)
    kinds = [(len(found) - archives, "folder"), (archives, "archive")]
    counts = " and ".join(counted(count, kind) for count, kind in kinds if count)
    is_one = found[0].path == folder.resolve()
    return Layout(
        summary=f"One submission: {found[0].id}" if is_one else f"Submissions: {counts}",
        submissions=tuple(found),
        is_class=not is_one,
        remarks=tuple(f"{name} is not graded: {reason}" for name, reason in unread_archives(folder, found).items()),
    )


def read_single(place: Path) -> Layout:
    """The one submission that a folder, an archive or a notebook is, whatever lies in it.

    Raises:
        FindError: there is no such thing.
    """
    found = find_one(place)
    return Layout(summary=f"One submission: {found.id}", submissions=(found,), is_class=False)
