"""Which names a new assignment may have: its folder, its stub, the function in it and its mistakes are called by it."""

import builtins
import keyword
import re
import sys
from collections.abc import Iterable, Iterator

from grader.assignment import VARIANTS, AssignmentError
from grader.course import Course
from grader.diagnosis.mistakes import FOLDER, MistakeError, read_mistakes
from grader.fault import Fault
from grader.names import NOISE, TOOL_FILES, stands_for

_FORM = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", re.ASCII)
_LONGEST = 40
_HIDDEN = "_hidden"
#: Modules that students' code or the checks import, so that no stub may stand in their place.
_IMPORTED = frozenset({"torch", "numpy", "pytest", "grader", "reference"})
#: Folders of a course's reference.
_FOLDERS = frozenset({FOLDER, VARIANTS})


class NameRefused(Fault):
    """No assignment can have this name; the text says why, and what to do."""


def must_be_free(name: str, course: Course, ids: Iterable[str] = ()) -> None:
    """Raise NameRefused, with every reason, where a name cannot be given to a new assignment.

    Args:
        course: the one it is for, which need not be there yet.
        ids: of the mistakes that come with it.
    """
    faults = list(_faults_of_form(name)) or [*_faults_of_meaning(name), *_clashes(name, course, ids)]
    if faults:
        raise NameRefused("\n  ".join([f"{name!r} cannot be the name of a new assignment:", *faults]))


def _faults_of_form(name: str) -> Iterator[str]:
    if not _FORM.fullmatch(name):
        proposed = _proposed(name)
        hint = f"; did you mean {proposed}?" if proposed else ", such as layer_norm"
        yield f"it names a file and a function: wanted lower-case letters, digits and single underscores{hint}"
    elif len(name) > _LONGEST:
        yield f"it has {len(name)} characters, wanted at most {_LONGEST}"


def _proposed(name: str) -> str:
    """The nearest name of the right form: layer_norm for LayerNorm, or an empty string."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    plain = re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")
    is_one = name.isascii() and _FORM.fullmatch(plain) and len(plain) <= _LONGEST
    return plain if is_one else ""


def _faults_of_meaning(name: str) -> Iterator[str]:
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        yield f"{name} is a word of Python, and no function may be called so; choose another"
    if hasattr(builtins, name):
        yield f"{name} is a function of Python itself, which the new one would hide; choose another, such as my_{name}"
    if name in sys.stdlib_module_names or name in _IMPORTED:
        yield f"a student's {name}.py would stand in the place of the module {name}; choose another"
    if name in _FOLDERS:
        yield f"reference/{name}/ is a folder of its own; choose another"
    if name.endswith(_HIDDEN):
        yield f"a name with {_HIDDEN} at its end marks a file of hidden checks; choose another"
    if name in NOISE or f"{name}.py" in TOOL_FILES:
        yield f"{name} is what tools leave behind, and would be left out of what students hand in; choose another"


def _clashes(name: str, course: Course, ids: Iterable[str]) -> Iterator[str]:
    """What the course has already. Names that some disks hold for one, or that `grade` takes for one, are one."""
    folder = course.folder / "assignments"
    there = sorted(folder.iterdir()) if folder.is_dir() else []
    taken = [path.name for path in there if stands_for(f"{path.name}.py", f"{name}.py")]
    if taken:
        yield f"{folder / taken[0]} is there already, and is left as it is; choose another"
    for other in course.names:
        if other not in taken:
            yield from _clashes_with_stubs(name, course, other)
    yield from _clashes_with_mistakes(course, ids)


def _clashes_with_stubs(name: str, course: Course, other: str) -> Iterator[str]:
    try:
        files = course.assignment(other).files
    except AssignmentError:  # it is not this command's to mend
        return
    for file in files:
        if stands_for(f"{name}.py", file):
            yield (
                f"the assignment {other} asks students for {file} too, so that nobody could tell by its files whose "
                "homework a folder is; choose another"
            )


def _clashes_with_mistakes(course: Course, ids: Iterable[str]) -> Iterator[str]:
    try:
        known = read_mistakes(course.reference).by_id
    except MistakeError:  # nor is this
        return
    for one in ids:
        if one in known:
            yield f"the course knows a mistake {one} already, as one of the new ones would be called; choose another"
