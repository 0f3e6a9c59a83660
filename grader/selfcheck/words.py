"""What a student reads of their own work in the terminal: what is wrong, then the checks that failed, then points.

Made from a `StudentView` and nothing else. Every verdict stands there as a word; colours only repeat it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from rich.text import Text

from grader.render.agreement import agreements
from grader.report import FeedbackLevel, Status
from grader.show import for_terminal
from grader.student_records import (
    StudentCheck,
    StudentDiagnosis,
    StudentExample,
    StudentMatrix,
    StudentPart,
    StudentView,
)
from grader.verdict import Verdict

_RIGHT, _WRONG, _FAINT, _HEAD = "green", "bold red", "dim", "bold"
#: Elements of a tensor that are written out; an example has fewer, what a student's code returned for it may not.
_MOST_CELLS = 64
#: Lines of what the code printed during one check.
_MOST_PRINTED = 12
#: Checks of one callable that are told at length, and titles of those that something else explains.
_MOST_AT_LENGTH, _MOST_EXPLAINED = 2, 4
#: What stands below a check's title begins under it.
_INDENT = " " * 19


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """How much is told."""

    #: Points of all checks of a part, hidden ones too, by its name.
    max_scores: Mapping[str, Decimal]
    #: Whether every failed check is told at length, those that a named mistake explains too.
    is_everything: bool = False


def said_of(view: StudentView, telling: Telling) -> Iterator[Text]:
    """All lines."""
    if view.status is not Status.GRADED:
        yield Text(for_terminal(view.reason or ""), style=_WRONG)
        return
    for diagnosis in view.diagnoses:
        yield from _mistake(diagnosis)
    if view.unrecognised:
        names = ", ".join(view.unrecognised)
        yield Text(f"{names}: wrong, in a way that no known mistake explains by itself", style=_HEAD)
        yield Text()
    for example in view.examples:
        yield from _example(example)
    for part in view.parts:
        yield from _failures(part, view, telling)
    for note in view.notes:
        yield Text(f"note: {for_terminal(note)}", style=_FAINT)
    for part in view.parts:
        yield _points(part, view.checks)
    for agreement in agreements(view.checks):
        yield Text(f"{agreement.callable}, {agreement.text}", style=_FAINT)
    yield from _what_this_is(view, telling)


def broken(files: dict[str, str]) -> Iterator[Text]:
    """Why files could not be loaded, while what was found before still stands."""
    for file, problem in files.items():
        yield Text(f"{file} cannot be loaded as it is now:", style=_WRONG)
        yield from _indented(problem, "  ")
        yield Text()
    if files:
        yield Text(f"Below is what was found before, of {', '.join(files)}.", style=_FAINT)
        yield Text()


def _mistake(diagnosis: StudentDiagnosis) -> Iterator[Text]:
    yield Text(for_terminal(diagnosis.title), style=_HEAD)
    for other in diagnosis.alternatives:
        yield Text(f"  or: {for_terminal(other)}")
    yield Text(f"  shows in  {', '.join(diagnosis.callables)}, {_counted(len(diagnosis.checks), 'check')}")
    if diagnosis.hint:
        yield from _labelled("hint", diagnosis.hint)
    if diagnosis.explanation:
        yield from _labelled("why", diagnosis.explanation)
    if diagnosis.evidence:
        yield from _labelled("seen", diagnosis.evidence)
    yield Text()


def _labelled(label: str, text: str) -> Iterator[Text]:
    first, *others = for_terminal(text).splitlines() or [""]
    yield Text(f"  {label:<9} {first}")
    for line in others:
        yield Text(f"            {line}")


def _example(example: StudentExample) -> Iterator[Text]:
    """A call that can be followed by hand: its tensors, what is right, what came."""
    yield Text(f"{for_terminal(example.call)}", style=_HEAD)
    for matrix in example.inputs:
        yield from _matrix("", matrix)
    for number, expected in enumerate(example.expected):
        yield from _matrix("expected ", expected, _RIGHT)
        if number < len(example.observed):
            yield from _matrix("observed ", example.observed[number], _WRONG)
    for observed in example.observed[len(example.expected) :]:
        yield from _matrix("observed ", observed, _WRONG)
    if example.remark:
        yield from _indented(example.remark, "  ")
    yield Text()


def _matrix(side: str, matrix: StudentMatrix, style: str = "") -> Iterator[Text]:
    shape = f"[{', '.join(map(str, matrix.shape))}]" if matrix.shape else ""
    cells = list(map(for_terminal, matrix.cells[:_MOST_CELLS]))
    more = f"  and {len(matrix.cells) - _MOST_CELLS} more" if len(matrix.cells) > _MOST_CELLS else ""
    width = max(map(len, cells), default=0)
    length = max(matrix.shape[-1] if matrix.shape else 1, 1)
    rows = ["  ".join(cell.rjust(width) for cell in cells[at : at + length]) for at in range(0, len(cells), length)]
    head = f"  {side}{matrix.name}"
    for number, row in enumerate(rows or [""]):
        yield Text(f"{head:<20} {shape:<14} " if not number else " " * 36).append(row, style=style)
    if more:
        yield Text(f"{'':<36}{more}")


def _failures(part: StudentPart, view: StudentView, telling: Telling) -> Iterator[Text]:
    """The failed checks of a part: at length what nothing above explains, and some of it only."""
    failed = [check for check in view.checks if check.part == part.name and check.verdict is not Verdict.PASSED]
    if not failed:
        return
    titles = {check.id: check.title for check in view.checks}
    explained = {check for diagnosis in view.diagnoses for check in diagnosis.checks}
    others = [check for check in failed if telling.is_everything or check.id not in explained]
    yield Text(part.file, style=_HEAD)
    yield from _some_at_length(others, titles, telling)
    yield from _explained([check for check in failed if check not in others])
    yield Text()


def _some_at_length(checks: Iterable[StudentCheck], titles: Mapping[str, str], telling: Telling) -> Iterator[Text]:
    """Each at length, but where the one before says the same, or where its callable has had its share."""
    told, shares = "", Counter[str]()
    for check in checks:
        yield _failed(check)
        is_new = _problem(check) != told and shares[check.callable] < _MOST_AT_LENGTH
        if telling.is_everything or is_new:
            yield from _at_length(check, titles)
            told = _problem(check)
            shares[check.callable] += 1
    left_out = [name for name, count in shares.items() if count == _MOST_AT_LENGTH]
    if left_out and not telling.is_everything:
        yield Text(f"{_INDENT}(--all tells all of these at length)", style=_FAINT)


def _explained(checks: Sequence[StudentCheck]) -> Iterator[Text]:
    """Those that something above explains: some titles, and how many more."""
    yield from map(_failed, checks[:_MOST_EXPLAINED])
    more = len(checks) - _MOST_EXPLAINED
    if checks:
        text = f"and {_counted(more, 'more check')}, all explained above" if more > 0 else "explained above"
        yield Text(f"{_INDENT}({text}; --all tells each at length)", style=_FAINT)


def _failed(check: StudentCheck) -> Text:
    style = _FAINT if check.verdict is Verdict.BLOCKED else _WRONG
    return Text("  ").append(f"{check.verdict.label:<16}", style=style).append(f" {for_terminal(check.title)}")


def _problem(check: StudentCheck) -> str:
    """What its message says beyond which inputs it is about: equal for checks that fail of one line."""
    return "\n".join(line for line in check.message.splitlines()[1:] if not line.strip().startswith("input "))


def _at_length(check: StudentCheck, titles: Mapping[str, str]) -> Iterator[Text]:
    if check.verdict is Verdict.BLOCKED and check.blocked_by:
        needed = titles.get(check.blocked_by, check.blocked_by)
        yield Text(f"{_INDENT}needs first: {for_terminal(needed)}", style=_FAINT)
        return
    yield from _indented(check.message, _INDENT)
    if check.hint:
        yield Text(f"{_INDENT}hint: {for_terminal(check.hint)}")
    if check.output:
        printed = check.output.splitlines()
        yield Text(f"{_INDENT}printed:", style=_FAINT)
        yield from _indented("\n".join(printed[:_MOST_PRINTED]), f"{_INDENT}  ")
        if len(printed) > _MOST_PRINTED or check.output_cut:
            yield Text(f"{_INDENT}  ...", style=_FAINT)


def _indented(text: str, indent: str) -> Iterator[Text]:
    return (Text(f"{indent}{line}") for line in for_terminal(text).splitlines())


def _points(part: StudentPart, checks: Iterable[StudentCheck]) -> Text:
    own = [check for check in checks if check.part == part.name]
    passed = sum(check.verdict is Verdict.PASSED for check in own)
    is_right = passed == len(own)
    line = Text(f"{part.file:<20} ")
    line.append(f"{passed} of {_counted(len(own), 'check')} passed", style=_RIGHT if is_right else _WRONG)
    reached = part.score if part.score is not None else Decimal(0)
    return line.append(f", {_number(reached)} of {_number(sum((one.max_score for one in own), Decimal(0)))} points")


def _what_this_is(view: StudentView, telling: Telling) -> Iterator[Text]:
    hidden = sum(telling.max_scores.values(), Decimal(0)) - sum((check.max_score for check in view.checks), Decimal(0))
    yield Text()
    if hidden > 0:
        yield Text(f"Hidden checks decide about {_number(hidden)} more points, with other inputs.", style=_FAINT)
    if view.level is FeedbackLevel.VERDICT:
        yield Text("This course shows verdicts only before the deadline.", style=_FAINT)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _number(points: Decimal) -> str:
    return f"{points.normalize():f}"
