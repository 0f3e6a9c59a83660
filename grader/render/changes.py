"""What a regrade changed, as a terminal shows it and as CSV: what is about all first, then each student with a change.

Lines for a terminal pass `show.for_terminal` here, as a whole.
"""

import csv
import io
from collections.abc import Iterator
from decimal import Decimal

from grader.regrade import CheckChange, Comparison, MistakeChange, PartChange, Points, StudentChange
from grader.report import RunHeader, Status
from grader.show import for_csv_cell, for_terminal

#: Students with a change that are listed where not all are asked for.
MOST_STUDENTS = 60
#: Lines of changed verdicts over the class, and of changed checks of one student.
MOST_VERDICTS = 12
MOST_CHECKS = 6
#: Characters of an id.
_WIDEST = 28


def comparison_lines(comparison: Comparison, most_students: int | None = MOST_STUDENTS) -> Iterator[str]:
    """Say what changed. `most_students`: how many students are listed; None for all of them."""
    if not comparison.is_same_assignment:
        yield "Warning: these are reports of two assignments; what changed between them says little"
    if comparison.differences:
        yield f"The runs differ: {'; '.join(for_terminal(str(one)) for one in comparison.differences)}"
    yield ""
    yield from _totals(comparison)
    if comparison.is_equal:
        yield "Nothing changed for anybody"
        return
    yield from _verdicts(comparison)
    yield from _students(comparison, most_students)


def report_line(label: str, where: str, header: RunHeader, submissions: int) -> str:
    """Say which report it is: by what name, where, of what, when and with which seed."""
    return for_terminal(
        f"{label}  {where}: {_count(submissions, 'submission')} of {header.assignment.name}, "
        f"{header.created.strftime('%Y-%m-%d %H:%M %Z')}, seed {header.seed}"
    )


def changes_csv(comparison: Comparison) -> str:
    """Write a line per student with a change, and one per check of theirs, as CSV.

    Columns: id, check (empty in the student's own line), old, new (status or verdict; empty where it is in one report
    only), old_points, new_points (final scores in the student's own line). Lines end in a bare newline; the file is
    meant to be UTF-8.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", "check", "old", "new", "old_points", "new_points"])
    for one in comparison.students:
        statuses = [side.status.value if side else "" for side in (one.old, one.new)]
        finals = [_number(side.final_score if side else None) for side in (one.old, one.new)]
        writer.writerow([for_csv_cell(one.id), "", *statuses, *finals])
        for check in one.checks:
            points = [_number(check.old_score), _number(check.new_score)]
            name = for_csv_cell(check.id)
            writer.writerow([for_csv_cell(one.id), name, check.old_verdict.value, check.new_verdict.value, *points])
    return text.getvalue()


def _totals(comparison: Comparison) -> Iterator[str]:
    counts = f"{comparison.up} up, {comparison.down} down, {comparison.same} same"
    if comparison.unscored:
        counts += f", {comparison.unscored} with a score in one only"
    mean = ""
    if comparison.old_mean is not None and comparison.new_mean is not None:
        change = comparison.new_mean - comparison.old_mean
        mean = f"; mean {comparison.old_mean:.2f}, now {comparison.new_mean:.2f} ({change:+.2f})"
    yield f"{comparison.both} in both: {counts}{mean}"
    if not comparison.both:
        yield "No submission is in both; are these reports of one class?"
    more = [
        (comparison.vanished, "only in OLD"),
        (comparison.appeared, "only in NEW"),
        (comparison.status_changes, "with another status"),
        (comparison.resubmitted, "with other files"),
    ]
    if any(count for count, _ in more):
        yield ", ".join(f"{count} {text}" for count, text in more if count)
    for checks, label in ((comparison.checks_gone, "OLD"), (comparison.checks_new, "NEW")):
        if checks:
            left = f", and {len(checks) - MOST_VERDICTS} more" if len(checks) > MOST_VERDICTS else ""
            yield f"Checks only in {label}: {', '.join(map(for_terminal, checks[:MOST_VERDICTS]))}{left}"


def _verdicts(comparison: Comparison) -> Iterator[str]:
    if comparison.verdicts:
        yield ""
        yield "Verdicts that changed, by students"
    for one in comparison.verdicts[:MOST_VERDICTS]:
        yield f"{one.students:>4}  {for_terminal(one.check)}: {one.old.label} → {one.new.label}"
    left = len(comparison.verdicts) - MOST_VERDICTS
    if left > 0:
        yield f"      ... and {left} more"


def _students(comparison: Comparison, most: int | None) -> Iterator[str]:
    listed = comparison.students[:most]
    if not listed:
        return
    width = max(10, min(_WIDEST, max(len(for_terminal(one.id)) for one in listed)))
    yield ""
    yield f"{'submission':<{width}}  {'old':>8}  {'new':>8}  {'change':>8}"
    for one in listed:
        yield from _student(one, width)
    left = len(comparison.students) - len(listed)
    if left:
        yield f"... and {left} more with a change: --all lists them, -o FILE writes all of them as CSV"


def _student(change: StudentChange, width: int) -> Iterator[str]:
    name = " ".join(for_terminal(change.id).split())
    shown = name if len(name) <= width else name[: width - 1] + "…"
    gain = f"{change.gain:+.2f}" if change.gain is not None else ""
    yield f"{shown:<{width}}  {_final(change.old):>8}  {_final(change.new):>8}  {gain:>8}{_marks(change)}".rstrip()
    for line in _details(change):
        yield f"    {line}"


def _marks(change: StudentChange) -> str:
    if change.old is None or change.new is None:
        return "  vanished" if change.old else "  appeared"
    marks = []
    if change.old.status is not change.new.status:
        marks.append(f"{_words(change.old.status)} → {_words(change.new.status)}")
    if change.has_other_files:
        marks.append("other files")
    return f"  {', '.join(marks)}" if marks else ""


def _details(change: StudentChange) -> Iterator[str]:
    if change.old and change.new:
        yield from _behind(change.old, change.new)
    yield from map(_part, change.parts)
    yield from map(_check, change.checks[:MOST_CHECKS])
    if len(change.checks) > MOST_CHECKS:
        yield f"... and {len(change.checks) - MOST_CHECKS} more checks"
    yield from (f"no longer: {_mistake(one)}" for one in change.mistakes_gone)
    yield from (f"now: {_mistake(one)}" for one in change.mistakes_new)


def _behind(old: Points, new: Points) -> Iterator[str]:
    """What moved the final score, where something besides the code did, before or now."""
    changes = [
        ("by the code", old.score, new.score),
        ("late days", old.late, new.late),
        ("overrides", old.overrides, new.overrides),
    ]
    if any(side is not None for _, *sides in changes[1:] for side in sides):
        for label, before, after in changes:
            if before != after:
                yield f"{label} {_number(before) or 'none'} → {_number(after) or 'none'}"


def _part(part: PartChange) -> str:
    return f"{for_terminal(part.name)}: {_number(part.old_score) or '-'} → {_number(part.new_score) or '-'} points"


def _check(check: CheckChange) -> str:
    verdicts = f"{check.old_verdict.label} → {check.new_verdict.label}"
    points = f" ({_number(check.old_score) or '-'} → {_number(check.new_score) or '-'} points)"
    return f"{for_terminal(check.id)}: {verdicts}{points}"


def _mistake(mistake: MistakeChange) -> str:
    return " ".join(for_terminal(mistake.title).split())


def _final(points: Points | None) -> str:
    return _number(points.final_score if points else None) or "-"


def _number(points: Decimal | None) -> str:
    return "" if points is None else f"{points:.2f}"


def _words(status: Status) -> str:
    return status.value.replace("_", " ")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
