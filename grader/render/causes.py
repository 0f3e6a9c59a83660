"""Group failed checks by what has to be fixed, so that one missing file is one entry and not forty-five.

Works alike on the staff's checks and on a student's view of them.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol, TypeVar

from grader.render.agreement import Measurement
from grader.verdict import Verdict


class Finding(Protocol):
    """What grouping and showing need of a check; `report.Check` and `student_records.StudentCheck` have it."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def part(self) -> str: ...
    @property
    def callable(self) -> str: ...
    @property
    def visible(self) -> bool: ...
    @property
    def verdict(self) -> Verdict: ...
    @property
    def score(self) -> Decimal | None: ...
    @property
    def max_score(self) -> Decimal: ...
    @property
    def message(self) -> str: ...
    @property
    def hint(self) -> str: ...
    @property
    def output(self) -> str: ...
    @property
    def output_cut(self) -> bool: ...
    @property
    def blocked_by(self) -> str | None: ...
    @property
    def measured(self) -> Sequence[Measurement]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """What the student's code printed, and whether only the beginning was kept."""

    text: str
    is_cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One thing to fix: the checks that say so in the same words, and those that wait for it."""

    verdict: Verdict
    #: The file or the function when the verdict is on one, else the title of the first check.
    heading: str
    #: Whether nothing may be told about it but the titles: hidden checks, shown to a student.
    is_silent: bool
    files: tuple[str, ...]
    message: str
    hint: str
    checks: tuple[Finding, ...]
    #: Blocked checks that are judged once this is fixed.
    held_up: tuple[Finding, ...]
    #: What the checks printed, each text once.
    printed: tuple[Printed, ...]
    #: Points lost by `checks` and `held_up` together.
    lost: Decimal


_Item = TypeVar("_Item", bound=Hashable)
_Key = tuple[object, ...]
_Groups = dict[_Key, list[Finding]]
_ON_FILES = (Verdict.MISSING_FILE, Verdict.IMPORT_ERROR)
_ON_CALLABLES = (Verdict.MISSING_NAME, Verdict.NOT_IMPLEMENTED)


def find_causes(checks: Iterable[Finding], files: Mapping[str, str]) -> list[Cause]:
    """Group the checks that did not pass, the cause to fix first in front.

    Args:
        checks: all checks of a submission, in the assignment's order.
        files: the stub file of each part, by the part's name.
    """
    failed = [check for check in checks if check.verdict is not Verdict.PASSED]
    blocked = [check for check in failed if check.verdict is Verdict.BLOCKED]
    groups = _group(check for check in failed if check.verdict is not Verdict.BLOCKED)
    roots = _roots(groups, files)
    waits_for = {check.id: check.blocked_by for check in blocked}
    held_up: _Groups = {}
    for check in blocked:
        root = _root(check, waits_for, roots)
        if root is None:
            groups.setdefault((check.verdict, check.blocked_by, check.part, check.visible), []).append(check)
        else:
            held_up.setdefault(root, []).append(check)
    position = {check.id: at for at, check in enumerate(failed)}
    causes = [_cause(group, held_up.get(key, ()), files) for key, group in groups.items()]
    return sorted(causes, key=lambda cause: (*_urgency(cause), position[cause.checks[0].id]))


def _urgency(cause: Cause) -> tuple[bool, bool, int]:
    """Order by verdict, but put last what tells nothing, and what is blocked: its cause is elsewhere."""
    return cause.is_silent, cause.verdict is Verdict.BLOCKED, cause.verdict.rank


def _group(failed: Iterable[Finding]) -> _Groups:
    """Put together what says the same; the visible checks go first, so that hidden ones can join them."""
    groups: _Groups = {}
    for check in sorted(failed, key=lambda check: not check.visible):
        groups.setdefault(_key(check, groups), []).append(check)
    return groups


def _key(check: Finding, groups: _Groups) -> _Key:
    if check.message:  # a hint belongs to the question asked, not to a file or name that answers none
        return (check.verdict, check.message, "" if check.verdict in (*_ON_FILES, *_ON_CALLABLES) else check.hint)
    if check.verdict in _ON_FILES:  # a hidden check tells no more, but its part has one file only
        for key, group in groups.items():
            if key[0] is check.verdict and any(other.part == check.part for other in group):
                return key
    return (check.verdict, check.part, check.visible)


def _roots(groups: _Groups, files: Mapping[str, str]) -> dict[str, _Key]:
    """Map what a check can be blocked by, an id or a file, to the most urgent group that fails there."""
    roots: dict[str, _Key] = {}
    for key in sorted(groups, key=lambda key: groups[key][0].verdict.rank):
        for check in groups[key]:
            roots[check.id] = key
            roots.setdefault(files.get(check.part, check.part), key)
    return roots


def _root(check: Finding, waits_for: Mapping[str, str | None], roots: Mapping[str, _Key]) -> _Key | None:
    """Follow a blocked check to what it waits for in the end; None when that is not known."""
    seen: set[str] = set()
    name = check.blocked_by
    while name is not None and name not in seen:
        if name in roots:
            return roots[name]
        seen.add(name)
        name = waits_for.get(name)
    return None


def _cause(group: Sequence[Finding], held_up: Sequence[Finding], files: Mapping[str, str]) -> Cause:
    first = group[0]
    concerned = _unique(files.get(check.part, check.part) for check in group)
    printed = _unique((check.output, check.output_cut) for check in group if check.output)
    return Cause(
        verdict=first.verdict,
        heading=_heading(group, concerned),
        is_silent=_is_silent(first),
        files=concerned,
        message=first.message,
        hint="" if first.verdict in (*_ON_FILES, *_ON_CALLABLES) else first.hint,
        checks=tuple(group),
        held_up=tuple(held_up),
        printed=tuple(Printed(text=text, is_cut=is_cut) for text, is_cut in printed),
        lost=sum((_lost(check) for check in (*group, *held_up)), Decimal(0)),
    )


def _heading(group: Sequence[Finding], files: Sequence[str]) -> str:
    first, more = group[0], len(group) - 1
    callables = _unique(check.callable for check in group if check.callable)
    if first.verdict in _ON_FILES:
        return ", ".join(files)
    if first.verdict in _ON_CALLABLES and callables:
        return ", ".join(callables)
    if more and _is_silent(first):
        return f"{more + 1} hidden checks"
    return f"{first.title} and {more} more" if more else first.title


def _is_silent(check: Finding) -> bool:
    return not check.visible and not check.message


def _unique(items: Iterable[_Item]) -> tuple[_Item, ...]:
    return tuple(dict.fromkeys(items))


def _lost(check: Finding) -> Decimal:
    return Decimal(0) if check.score is None else check.max_score - check.score
