"""Checks that did not pass, those together that say the same: a file that does not load fails all of its checks."""

from collections.abc import Iterable
from decimal import Decimal

from grader.student_view import StudentCheck
from grader.verdict import Verdict

Group = tuple[StudentCheck, ...]
#: Why points of checks and of parts may differ.
CHARGED = "A mistake that was recognised costs its price once, instead of the points of each check"


def failures(checks: Iterable[StudentCheck]) -> list[Group]:
    """Group the checks that did not pass by what they say, in the order of their first ones.

    A check without a message, as a hidden one, stands alone.
    """
    groups: dict[object, list[StudentCheck]] = {}
    for check in checks:
        if check.verdict is not Verdict.PASSED:
            key = (check.visible, check.verdict, check.message) if check.message else check.id
            groups.setdefault(key, []).append(check)
    return [tuple(group) for group in groups.values()]


def points(group: Group) -> str:
    """What the checks of a group got, of what there is."""
    there_are = sum((check.max_score for check in group), Decimal(0))
    scores = [check.score for check in group if check.score is not None]
    got = f"{sum(scores, Decimal(0)):.2f}" if len(scores) == len(group) else "–"
    return f"{got} of {there_are:.2f}"


def message_of(check: StudentCheck) -> str:
    """What a check says, its hint as the last line."""
    hint = " ".join(check.hint.split())
    return "\n".join(line for line in (check.message, f"  hint      {hint}" if hint else "") if line)
