"""Annotations of a check: what a student's view says about a line of their code, at that line.

Lines are where a message, a piece of evidence, a note or a step of the shapes names them. GitHub shows annotations
as plain text, in the student's own files.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from grader.show import for_terminal
from grader.student_records import StudentView
from grader.verdict import Verdict

#: Most that are sent: four requests, and more than anybody reads.
MOST = 200
_MOST_TITLE = 255
_MOST_MESSAGE = 8_000
#: Of no file that a person wrote; GitHub refuses numbers that are no 32-bit integer.
_MOST_LINE = 10_000_000
_SHAPES = "The shapes go another way here"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Annotation:
    """A remark at a line of a file of the repository."""

    path: str
    line: int
    #: notice, warning or failure.
    level: str
    title: str
    message: str

    def fields(self) -> dict[str, Any]:
        """As the API takes it."""
        return {
            "path": self.path,
            "start_line": self.line,
            "end_line": self.line,
            "annotation_level": self.level,
            "title": self.title,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Remark:
    file: str
    line: int
    level: str
    title: str
    message: str


def annotations(view: StudentView, folder: str) -> list[Annotation]:
    """What is to be said at lines, one annotation a line.

    Args:
        view: the student's.
        folder: where the submission lies in the repository; empty for the top.
    """
    by_line: dict[tuple[str, int], list[_Remark]] = {}
    for remark in _remarks(view):
        if 0 < remark.line <= _MOST_LINE:
            by_line.setdefault((remark.file, remark.line), []).append(remark)
    return [_joined(f"{folder}/{file}".lstrip("/"), found) for (file, _), found in sorted(by_line.items())]


def _remarks(view: StudentView) -> Iterator[_Remark]:
    finder = _finder(view.files)
    for check in view.checks:
        if check.verdict is not Verdict.PASSED and check.message:
            place = next(_places(finder, check.message), None)
            if place:
                title = f"{check.title}: {check.verdict.label}"
                yield _Remark(file=place[0], line=place[1], level="failure", title=title, message=check.message)
    for diagnosis in view.diagnoses:
        for file, line in _places(finder, diagnosis.evidence):
            text = diagnosis.explanation or diagnosis.hint or diagnosis.evidence
            yield _Remark(file=file, line=line, level="failure", title=diagnosis.title, message=text)
    for way in view.shapes:
        for step in way.steps:
            if step.departs and step.line is not None and step.file in view.files:
                text = f"{way.call}\n{step.operation}: {step.departs}"
                yield _Remark(file=step.file, line=step.line, level="warning", title=_SHAPES, message=text)
    for note in view.notes:
        for file, line in _places(finder, note):
            yield _Remark(file=file, line=line, level="notice", title="Noticed on the way", message=note)


def _finder(files: Iterable[str]) -> re.Pattern[str] | None:
    """Finds "FILE, line N" for files that were handed in: a text cannot make remarks on other files of a repository."""
    names = sorted((name for name in files if _is_plain(name)), key=len, reverse=True)
    return re.compile(rf"(?<![\w/.-])({'|'.join(map(re.escape, names))}), line (\d{{1,9}})\b") if names else None


def _is_plain(name: str) -> bool:
    """Whether a name is that of a source file below the submission; the lines of a notebook are those of its JSON."""
    return name.endswith(".py") and not name.startswith("/") and ".." not in name.split("/")


def _places(finder: re.Pattern[str] | None, text: str) -> Iterator[tuple[str, int]]:
    if finder and text:
        for file, line in finder.findall(text):
            yield file, int(line)


def _joined(path: str, found: list[_Remark]) -> Annotation:
    """One annotation of all that is said at a line, the gravest level first; equal messages once."""
    levels = ["failure", "warning", "notice"]
    found = sorted(found, key=lambda remark: levels.index(remark.level))
    title = found[0].title if len(found) == 1 else f"{found[0].title} (and {len(found) - 1} more)"
    texts = dict.fromkeys(remark.message for remark in found)
    others = [f"- {remark.title}" for remark in found[1:]]
    message = "\n\n".join([*texts, *(["\n".join(["Also here:", *others])] if others else [])])
    return Annotation(
        path=path,
        line=found[0].line,
        level=found[0].level,
        title=_cut(" ".join(for_terminal(title).split()), _MOST_TITLE),
        message=_cut(for_terminal(message), _MOST_MESSAGE),
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
