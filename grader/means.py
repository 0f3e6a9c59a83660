"""By what means a report was made, and in what two reports differ, as words."""

from dataclasses import dataclass

from grader.report import RunHeader


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that two runs do not have in common, as words."""

    name: str
    old: str
    new: str

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
    return [Difference(name=name, old=before, new=after) for name, before, after in pairs if before != after]
