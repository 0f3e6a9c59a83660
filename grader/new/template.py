"""The files of a new assignment: those of the one in `course`, with its name in the place of `exercise`.

What is copied is an assignment itself: `grade verify exercise --course grader/new/course` proves it.
"""

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

#: The course whose only assignment is copied.
COURSE = Path(__file__).parent / "course"
#: Its name there, wherever it stands in a path or in a text.
_NAME = "exercise"
#: What makes a folder a course, beside its assignments.
_OF_THE_COURSE = PurePosixPath("reference/__init__.py")
_ID = re.compile(r'^id = "([^"]+)"', re.MULTILINE)
_CACHE = "__pycache__"


def files_of(name: str) -> Mapping[PurePosixPath, str]:
    """The texts of a new assignment's files by their places in a course."""
    renamed = {
        PurePosixPath(_renamed(place.as_posix(), name)): _renamed(text, name)
        for place, text in _originals().items()
        if place != _OF_THE_COURSE
    }
    return dict(sorted(renamed.items()))


def files_of_course() -> Mapping[PurePosixPath, str]:
    """The texts of the files that a course needs before its first assignment."""
    return {_OF_THE_COURSE: _originals()[_OF_THE_COURSE]}


def ids_of(files: Mapping[PurePosixPath, str]) -> list[str]:
    """Ids of the known mistakes among a new assignment's files."""
    return [one for at, text in files.items() if at.suffix == ".toml" for one in _ID.findall(text)]


def _originals() -> dict[PurePosixPath, str]:
    paths = [path for path in sorted(COURSE.rglob("*")) if path.is_file() and _CACHE not in path.parts]
    return {PurePosixPath(path.relative_to(COURSE).as_posix()): path.read_text(encoding="utf-8") for path in paths}


def _renamed(text: str, name: str) -> str:
    """A text with the new name: with hyphens where ids of mistakes begin, and in words where a title does."""
    title = name.replace("_", " ").capitalize()
    text = text.replace(f"{_NAME}-", f"{name.replace('_', '-')}-")
    return text.replace(_NAME, name).replace(_NAME.capitalize(), title)
