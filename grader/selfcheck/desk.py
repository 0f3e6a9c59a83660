"""One folder, checked again and again. What a change of files cannot have changed is not asked again."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from grader.diagnosis.explanation import Explanation
from grader.diagnosis.illustrate import Illustrated
from grader.examine import Examined
from grader.find import Found
from grader.finding import Example, Shapes
from grader.grade import Grading, Looked
from grader.launch import Launcher
from grader.plugin import CheckResult
from grader.report import RunHeader
from grader.selfcheck.affected import affected_parts
from grader.spec import CheckSpec
from grader.stage import Staged, stage
from grader.student_records import StudentView
from grader.student_view import student_view
from grader.verdict import Verdict

#: What is found out about a part: it names it.
OfPart = TypeVar("OfPart", Explanation, Example, Shapes)

#: All that the checks of a file can say when it, or a file that it imports, cannot be loaded.
_NOT_LOADED = (Verdict.IMPORT_ERROR, Verdict.BLOCKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a student may know of their work now."""

    view: StudentView
    #: Files that were checked this time.
    files: tuple[str, ...]
    #: What keeps files from being loaded, by file; the view then says what was found before.
    broken: dict[str, str]

    @property
    def is_all_right(self) -> bool:
        """Whether every visible check passes."""
        return not self.broken and all(check.verdict is Verdict.PASSED for check in self.view.checks)


class Desk:
    """A folder, and what is known of it so far."""

    def __init__(self, grading: Grading, launcher: Launcher, header: RunHeader, found: Found) -> None:
        self._grading = grading
        self._launcher = launcher
        self._header = header
        self._found = found
        self._staged: Staged | None = None
        self._looked: Looked | None = None

    def read(self) -> Staged:
        """The files as they are now. Raises IntakeError."""
        return stage(self._found, self._grading.assignment)

    def check(self, staged: Staged, today: date) -> Checked:
        """Check files that were read; what they cannot have changed since the last time is kept.

        Raises:
            LaunchError, ExamineError: faults of the grader, or of its machine.
        """
        assignment = self._grading.assignment
        parts = tuple(part.name for part in assignment.parts)
        if self._staged is not None and self._looked is not None and not staged.is_empty:
            parts = affected_parts(assignment, _texts(self._staged), _texts(staged))
        looked, broken = self._looked, dict[str, str]()
        if staged.is_empty:
            looked = None
        elif parts or looked is None:
            looked, broken = self._look(staged, parts)
        self._staged = staged
        self._looked = looked
        submission = self._grading.entry(staged, looked)
        return Checked(
            view=student_view(self._header, submission, self._header.assignment.feedback, today),
            files=tuple(assignment.part(name).file for name in parts),
            broken=broken,
        )

    def _look(self, staged: Staged, parts: Collection[str]) -> tuple[Looked, dict[str, str]]:
        """Look at these parts; where one cannot be loaded any more, what was known of it stays."""
        new = self._grading.look(staged, self._launcher, parts)
        if self._looked is None:
            return new, {}
        broken = {name: problem for name in parts if (problem := _problem(new.examined, name))}
        merged = _merged(self._looked, new, set(parts) - broken.keys())
        return merged, {self._grading.assignment.part(name).file: problem for name, problem in broken.items()}


def _texts(staged: Staged) -> dict[str, str]:
    """What there is by file name, or why it cannot be read."""
    return {**staged.sources.unreadable, **staged.sources.texts}


def _problem(examined: Examined, part: str) -> str:
    """What keeps a part from being loaded; empty when nothing does."""
    of_part = [result for spec, result in zip(examined.specs, examined.results, strict=True) if spec.part == part]
    if not of_part or any(result.verdict not in _NOT_LOADED for result in of_part):
        return ""
    return min(of_part, key=lambda result: result.verdict.rank).message


def _merged(old: Looked, new: Looked, renewed: Collection[str]) -> Looked:
    """What is known after a look at some parts. What the text of the files says is always that of the new look."""
    before, after = old.illustrated, new.illustrated
    return Looked(
        scanned=new.scanned,
        examined=_results(old.examined, new.examined, renewed),
        illustrated=Illustrated(
            explained=_chosen(before.explained, after.explained, renewed),
            examples=_chosen(before.examples, after.examples, renewed),
            shapes=_chosen(before.shapes, after.shapes, renewed),
        ),
    )


def _results(old: Examined, new: Examined, renewed: Collection[str]) -> Examined:
    rows = [row for row in _rows(old) if row[0].part not in renewed] + [
        row for row in _rows(new) if row[0].part in renewed
    ]
    return Examined(
        specs=tuple(spec for spec, _, _ in rows),
        results=tuple(result for _, result, _ in rows),
        durations_s=tuple(duration_s for _, _, duration_s in rows),
    )


def _rows(examined: Examined) -> list[tuple[CheckSpec, CheckResult, float]]:
    return list(zip(examined.specs, examined.results, examined.durations_s, strict=True))


def _chosen(old: Iterable[OfPart], new: Iterable[OfPart], renewed: Collection[str]) -> tuple[OfPart, ...]:
    kept = tuple(one for one in old if one.part not in renewed)
    return kept + tuple(one for one in new if one.part in renewed)
