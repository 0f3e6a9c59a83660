"""A folder on the disk becomes a tree. Every folder and file is opened below an opened one, and no link is followed:
no path is trusted twice, so it does not matter what is swapped while it is read, and there are no loops."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from grader.intake.regular import Unreadable, open_folder, read_regular
from grader.intake.tree import (
    DEEPEST,
    MOST_ENTRIES,
    MOST_LISTED,
    TOO_DEEP,
    TOO_MANY,
    Gathering,
    Refusal,
    Tree,
    most_bytes,
    said_of,
)
from grader.names import is_noise
from grader.record import clean_text


def read_folder(folder: Path) -> Tree:
    """What can be taken of a folder.

    Raises:
        IntakeError: no descriptor is left.
    """
    gathering = Gathering()
    try:
        for seen in _walk(folder, gathering):
            gather(gathering, seen.name, partial(_content, seen.entry, seen.within))
    except Refusal as refusal:
        return Tree.of_refusal(refusal)
    return gathering.tree()


def read_file(file: Path) -> Tree:
    """What can be taken of a single file that is a whole submission: a notebook.

    Raises:
        IntakeError: no descriptor is left.
    """
    gathering = Gathering()
    gather(gathering, file.name, partial(content_of, file))
    return gathering.tree()


def gather(gathering: Gathering, name: str, read: Callable[[int, str], bytes | str]) -> None:
    """Take or leave one file; it is read only when it is of use, up to so many bytes, or the reason why not.

    Raises:
        Refusal: with it the submission is too much.
    """
    if most := most_bytes(name):
        gathering.take(name, read(*most))
    else:
        gathering.pass_by(name)


def content_of(path: Path, most: int, too_large: str) -> bytes | str:
    """The bytes of a file that lies by itself, or why it cannot be taken; of one larger than `most`, `too_large`."""
    return _content(os.fspath(path), None, most, too_large)


def names_below(folder: Path) -> Iterator[str]:
    """Names of what can be taken in a folder; no file is opened, and a folder that cannot be read has none."""
    try:
        for seen in _walk(folder, Gathering()):
            if most_bytes(seen.name):
                yield seen.name
    except Refusal:
        return


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """An entry of a folder that is open."""

    #: Relative to the submission.
    name: str
    entry: str
    is_folder: bool
    #: Descriptor of the folder it is in.
    within: int


@dataclass(slots=True)
class _Budget:
    """What may still be looked at, in the whole submission."""

    entries: int = MOST_ENTRIES
    listed: int = MOST_LISTED


def _walk(top: Path, gathering: Gathering) -> Iterator[_Seen]:
    """Files of a folder and of those below, the shallow first; leftovers of tools are left out.

    Shallow first, so that what a folder of thousands cuts off is not the homework beside it.

    Raises:
        Refusal: the folder itself cannot be read, or holds too much.
    """
    root = _open_top(top)
    try:
        budget = _Budget()
        level: list[tuple[str, ...]] = [()]
        for depth in range(1, DEEPEST + 1):
            deeper: list[tuple[str, ...]] = []
            for parts in level:
                for seen in _look_into(root, parts, budget, gathering):
                    if seen.is_folder and depth < DEEPEST:
                        deeper.append((*parts, seen.entry))
                    elif seen.is_folder:
                        gathering.leave(seen.name, TOO_DEEP)
                    else:
                        yield seen
            level = deeper if budget.entries >= 0 else []
    finally:
        os.close(root)


def _look_into(root: int, parts: tuple[str, ...], budget: _Budget, gathering: Gathering) -> Iterator[_Seen]:
    """Entries of one folder, while it is open."""
    if budget.entries < 0:
        return
    name = "/".join(parts)
    try:
        within = _open_below(root, parts)
    except Unreadable as problem:
        gathering.leave(name, str(problem))
        gathering.cut_short(said_of(f"the folder {clean_text(name)}", str(problem)))
        return
    try:
        entries = _entries(within, budget)
        if budget.entries < 0:
            _give_up(name, gathering)
        for entry in entries:
            yield _Seen(
                name="/".join((*parts, entry.name)), entry=entry.name, is_folder=_is_folder(entry), within=within
            )
    finally:
        os.close(within)


def _open_top(top: Path) -> int:
    try:
        return open_folder(os.fspath(top))
    except Unreadable as problem:
        raise Refusal(said_of("the folder", str(problem))) from None


def _open_below(root: int, parts: tuple[str, ...]) -> int:
    """A folder, opened from the top one folder after the other."""
    here = open_folder(".", within=root)
    for part in parts:
        above = here
        try:
            here = open_folder(part, within=above)
        finally:
            os.close(above)
    return here


def _entries(within: int, budget: _Budget) -> list[os.DirEntry[str]]:
    """Entries of an open folder in order of name; none, and a budget below nothing, when there are too many."""
    kept: list[os.DirEntry[str]] = []
    try:
        with os.scandir(within) as listing:
            for entry in listing:
                budget.listed -= 1
                if not is_noise(entry.name):
                    kept.append(entry)
                if budget.listed < 0 or len(kept) > budget.entries:
                    budget.entries = -1
                    return []
    except OSError:  # it is damaged, or went away: there is no more to find in it
        pass
    budget.entries -= len(kept)
    return sorted(kept, key=lambda entry: entry.name)


def _give_up(name: str, gathering: Gathering) -> None:
    """What was found above a folder of thousands counts; at the top there is nothing above."""
    if not name:
        raise Refusal(f"the folder holds {TOO_MANY}")
    gathering.leave(name, f"with it the submission holds {TOO_MANY}")
    gathering.cut_short(f"with the folder {clean_text(name)} it holds {TOO_MANY}")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _content(entry: str, within: int | None, most: int, too_large: str) -> bytes | str:
    try:
        return read_regular(entry, most, too_large, within=within)
    except Unreadable as problem:
        return str(problem)
