"""Proof of an assignment's checks: wrong code loses points, right code loses none, and no verdict depends on the seed.

    python tests/prove_checks.py --catalogue --seeds 50

writes the entries of tests/data/mistakes as submissions (with --catalogue, those that are known from real courses),
beside every style in reference/variants/attention, grades all of them with each seed as `grade` does, and prints the
counts. Exit code 1 when anything is not as its entry says.
"""

import argparse
import os
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from grader.course import Course
from grader.find import Found
from grader.grade import Grading, with_grading
from grader.launch import Zygote
from grader.pool import grade_all
from grader.report import Submission
from grader.verdict import Verdict

TESTS = Path(__file__).parent
COURSE = Course(TESTS.parent)
DTYPE_CHECK = "has_the_dtype_of_the_inputs"

#: Verdicts other than `passed`, by check.
Verdicts = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One submission of the proof, and what it must get."""

    id: str
    #: loses, right, dtype_only or unobservable: see tests/data/mistakes.
    expect: str
    files: Mapping[str, str]
    #: Whether it is known from real courses; the others are made up.
    is_known: bool = True
    #: Whether its answers are random by nature, so that verdicts may differ from run to run.
    is_random: bool = False

    def complaint(self, submission: Submission) -> str:
        """What is not as it must be; empty when all is."""
        if submission.score is None:
            return f"grader error: {submission.reason}"
        lost = [check for check in submission.checks if check.verdict is not Verdict.PASSED]
        if self.expect == "loses":
            return "" if lost else "loses no point"
        if self.expect == "dtype_only":
            others = [check.id for check in lost if not check.id.endswith(DTYPE_CHECK)]
            return (
                "" if lost and not others else f"must lose its dtype check only; loses {[check.id for check in lost]}"
            )
        return f"must score full marks; loses {[check.id for check in lost]}" if lost else ""


def entries(assignment: str) -> Iterator[Entry]:
    """The mistakes and the styles of an assignment."""
    data = tomllib.loads((TESTS / f"data/mistakes/{assignment}.toml").read_text(encoding="utf-8"))
    plain = _read(TESTS / "data/solutions/plain")
    yield Entry(id="plain", expect="right", files=plain)
    for style in sorted((TESTS.parent / "reference/variants/attention").iterdir()):
        yield Entry(id=f"style-{style.name}", expect="right", files=_read(style))
    for mistake in data["mistake"]:
        yield Entry(
            id=mistake["id"],
            expect=mistake["expect"],
            files=edited(plain, mistake["edits"]),
            is_known=bool(mistake["catalogue"]) or mistake["expect"] != "loses",
            is_random=mistake.get("random", False),
        )


def edited(files: Mapping[str, str], edits: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Files with edits made; each `old` must occur exactly once."""
    result = dict(files)
    for edit in edits:
        text = result[edit["file"]]
        if text.count(edit["old"]) != 1:
            raise ValueError(f"{edit['file']}: {edit['old']!r} occurs {text.count(edit['old'])} times, wanted once")
        result[edit["file"]] = text.replace(edit["old"], edit["new"])
    return result


def grade_entries(chosen: Iterable[Entry], seed: int, folder: Path) -> dict[str, Submission]:
    """The report entries of the proof's submissions, written below `folder`, graded with a seed."""
    found = [Found(id=entry.id, path=write(folder / entry.id, entry.files)) for entry in chosen]
    assignment = COURSE.assignment("attention")
    with Zygote(min(os.cpu_count() or 1, len(found)), assignment.rules) as zygote:

        def grade(grading: Grading) -> dict[str, Submission]:
            checks_only = replace(grading, diagnostics=None)  # what a mistake is called is proved by `grade verify`
            return {submission.id: submission for submission in grade_all(checks_only, found, zygote)}

        return with_grading(COURSE, assignment, seed, grade)


def verdicts(submission: Submission) -> Verdicts:
    """The verdicts of a submission that are not `passed`."""
    return {check.id: str(check.verdict) for check in submission.checks if check.verdict is not Verdict.PASSED}


def prove(seeds: int, *, only_known: bool) -> int:
    """Run the proof and print it; the number of complaints."""
    chosen = [entry for entry in entries("attention") if entry.is_known or not only_known]
    complaints: list[str] = []
    first: dict[str, Verdicts] = {}
    changed: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, seeds + 1):
            begin = time.monotonic()
            graded = grade_entries(chosen, seed, Path(folder))
            for entry in chosen:
                complaint = entry.complaint(graded[entry.id])
                if complaint:
                    complaints.append(f"seed {seed}: {entry.id}: {complaint}")
                seen = verdicts(graded[entry.id])
                if first.setdefault(entry.id, seen) != seen and not entry.is_random:
                    changed[entry.id] += 1
                    complaints.append(f"seed {seed}: {entry.id}: {_difference(first[entry.id], seen)}")
            print(f"seed {seed} of {seeds}: {len(graded)} graded in {time.monotonic() - begin:.0f} s", file=sys.stderr)
    _print_counts(chosen, seeds, complaints, changed)
    return len(complaints)


def _print_counts(chosen: list[Entry], seeds: int, complaints: list[str], changed: Counter[str]) -> None:
    for complaint in complaints:
        print(complaint)
    kinds = Counter(entry.expect for entry in chosen)
    print(f"mistakes that must lose points: {kinds['loses']}; only their dtype check: {kinds['dtype_only']}")
    print(
        f"right solutions, styles and traps: {kinds['right']}; mistakes that nothing can show: {kinds['unobservable']}"
    )
    print(f"gradings: {len(chosen) * seeds}, with {seeds} seeds")
    print(f"complaints: {len(complaints)}; entries whose verdicts changed with the seed: {len(changed)}")


def _difference(before: Verdicts, now: Verdicts) -> str:
    names = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
    changes = [f"{name} {before.get(name, 'passed')}, now {now.get(name, 'passed')}" for name in names]
    return "verdicts depend on the seed: " + "; ".join(changes)


def _read(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))}


def write(folder: Path, files: Mapping[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--catalogue", action="store_true")
    arguments = parser.parse_args()
    sys.exit(bool(prove(arguments.seeds, only_known=arguments.catalogue)))
