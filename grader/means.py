"""By what means a report was made, and in what two reports differ, as words."""

from collections.abc import Iterable

from grader.record import Record
from grader.report import RunHeader


class Difference(Record):
    """One thing that two runs do not have in common, as words."""

    name: str
    """What it is."""
    old: str
    """As it was in the earlier run."""
    new: str
    """As it is in the later one."""

    def __str__(self) -> str:
        return f"{self.name} {self.old}, now {self.new}"


def different_means(old: RunHeader, new: RunHeader) -> list[Difference]:
    """In what two runs differ that can change what the same code earns from the same inputs."""
    pairs = [
        ("assignment", old.assignment.name, new.assignment.name),
        ("digest of the assignment", old.assignment.digest[:12], new.assignment.digest[:12]),
        ("grader", old.grader.version, new.grader.version),
        ("Python", old.grader.python, new.grader.python),
        ("torch", old.grader.torch, new.grader.torch),
        ("limit of a call", f"{old.timeout_s:g} s", f"{new.timeout_s:g} s"),
    ]
    return _different(pairs)


def all_differences(old: RunHeader, new: RunHeader) -> list[Difference]:
    """In what two runs differ at all, but for when they began."""
    pairs = [
        ("seed", str(old.seed), str(new.seed)),
        ("points", f"{old.assignment.max_score:.2f}", f"{new.assignment.max_score:.2f}"),
        ("isolation", old.grader.isolation.value, new.grader.isolation.value),
        ("late policy", _late(old), _late(new)),
    ]
    return [*different_means(old, new), *_different(pairs)]


def _different(pairs: Iterable[tuple[str, str, str]]) -> list[Difference]:
    return [Difference(name=name, old=before, new=after) for name, before, after in pairs if before != after]


def _late(header: RunHeader) -> str:
    policy = header.assignment.late
    if policy is None:
        return "none"
    return (
        f"due {policy.due.isoformat(sep=' ', timespec='minutes')}, grace {policy.grace_minutes} min, "
        f"{policy.percent_per_day:f} % a day, floor {policy.floor_percent:f} %, a mark counts {policy.marked_days}"
    )
