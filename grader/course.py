"""The course: a folder with `assignments/` and `reference/`, and which assignment a folder of homework answers."""

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.assignment import FILE, Assignment, read_assignment
from grader.fault import Fault

#: A function or class at the top level of a file.
_DEFINITION = re.compile(r"^(?:def|class) +(\w+)", re.MULTILINE)


class CourseError(Fault):
    """No course, or no assignment, could be settled on; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Course:
    """A course's folder."""

    folder: Path

    @property
    def reference(self) -> Path:
        return self.folder / "reference"

    @property
    def names(self) -> list[str]:
        """Names of the assignments there are."""
        return sorted(file.parent.name for file in (self.folder / "assignments").glob(f"*/{FILE}"))

    def assignment(self, name: str) -> Assignment:
        """The assignment of that name.

        Raises:
            CourseError: there is none; near matches are named.
            AssignmentError: it cannot be read.
        """
        if name not in self.names:
            close = difflib.get_close_matches(name, self.names, n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(self.names) or 'none'}"
            raise CourseError(f"no assignment is called {name!r} in {self.folder / 'assignments'}; {hint}")
        return read_assignment(self.folder / "assignments" / name)

    def asked(self, *names: str) -> dict[str, set[str]]:
        """Names that assignments ask for, by stub file; of all assignments, when none is named.

        Raises as `assignment` does.
        """
        asked: dict[str, set[str]] = {}
        for name in names or self.names:
            for part in self.assignment(name).parts:
                asked.setdefault(part.file, set()).update(part.callables)
        return asked

    def assignment_for(self, files: Iterable[str], texts: Callable[[], Iterable[str]] = tuple) -> Assignment:
        """The assignment whose stub names most of these file names match; the only one, when none match.

        Args:
            files: names of files of submissions.
            texts: gives the texts of some of these files. Where several assignments have a stub of one name, the one
                decides whose callables they define most of.

        Raises:
            CourseError: several match as well, or none does and there are several.
        """
        if not self.names:
            raise CourseError(f"{self.folder / 'assignments'} holds no assignment (a folder with {FILE})")
        assignments = [self.assignment(name) for name in self.names]
        if len(assignments) == 1:
            return assignments[0]
        counted = Counter(name.lower() for name in files)
        matches = {found.name: sum(counted[file.lower()] for file in found.files) for found in assignments}
        most = max(matches.values())
        best = [found for found in assignments if matches[found.name] == most]
        if len(best) > 1 and most:
            best = _most_defined(best, texts())
        if len(best) > 1:
            what = (
                "the files match these assignments equally well" if most else "the files match no assignment; there are"
            )
            raise CourseError(f"{what}: {', '.join(found.name for found in best)}; say which one with -a")
        return best[0]


def _most_defined(assignments: Sequence[Assignment], texts: Iterable[str]) -> list[Assignment]:
    """The assignments of whose callables the texts define the largest share."""
    defined = Counter(name for text in texts for name in set(_DEFINITION.findall(text)))

    def share(assignment: Assignment) -> float:
        names = [name for part in assignment.parts for name in part.callables]
        return sum(defined[name] for name in names) / len(names)

    shares = {found.name: share(found) for found in assignments}
    most = max(shares.values())
    return [found for found in assignments if shares[found.name] == most]


def find_course(start: Path) -> Course:
    """The course that a folder lies in.

    Raises:
        CourseError: neither the folder nor any above it holds `assignments/` and `reference/`.
    """
    start = start.resolve()
    for folder in (start, *start.parents):
        if (folder / "assignments").is_dir() and (folder / "reference").is_dir():
            return Course(folder)
    raise CourseError(
        f"{start} is in no course: neither it nor a folder above holds assignments/ and reference/; "
        "change to the course's folder, or name it with --course"
    )
