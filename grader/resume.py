"""Going on from an earlier report: whether that may be done, and which of its entries are kept.

One report, one set of checks, inputs and versions: entries that cannot be compared do not stand side by side.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from grader.assignment import Assignment
from grader.fault import Fault
from grader.find import Found
from grader.means import different_means
from grader.report import RunHeader, Status, Submission
from grader.stage import file_digest, stage
from grader.store import Earlier, Store


class ResumeError(Fault):
    """An earlier report is in the way, or cannot be continued so; the text says what to do."""


def earlier_report(store: Store, *, is_continued: bool, is_replaced: bool) -> Earlier | None:
    """What an earlier run left, when it is to be continued. A new run never silently replaces an old one.

    Raises:
        ResumeError: there is one, and nobody said what becomes of it.
        ReportError: it is damaged, or of another version.
    """
    if not store.is_used or (is_replaced and not is_continued):
        return None
    if is_continued:
        return store.earlier()
    raise ResumeError(
        f"{store.folder} holds the report of an earlier run; go on from it with --resume, replace it with --force, "
        "or write elsewhere with -o"
    )


def seed_of(earlier: Earlier, asked: int | None, out: Path) -> int:
    """The earlier run's seed. Raises ResumeError when another one is asked for."""
    if asked is not None and asked != earlier.header.seed:
        raise ResumeError(
            f"{out} was graded with seed {earlier.header.seed}, not {asked}; leave --seed out to go on with it, or "
            "start afresh with --force"
        )
    return earlier.header.seed


def must_match(earlier: RunHeader, now: RunHeader, *, has_roster: bool) -> None:
    """Raises ResumeError when the two runs' entries cannot stand in one report."""
    different = [str(one) for one in different_means(earlier, now)]
    if different:
        raise ResumeError(
            f"the earlier report was made with other means ({'; '.join(different)}); grade everything again "
            "with --force"
        )
    if earlier.roster and not has_roster:
        raise ResumeError(
            f"the earlier report was made with the roster {earlier.roster}; name it with --roster, so that names, "
            "times and who is missing stay right"
        )


def split(
    found: Sequence[Found], assignment: Assignment, earlier: Earlier | None, *, is_resumed: bool
) -> tuple[list[Submission], list[Found]]:
    """Entries to keep, and submissions to grade: those that are new, changed, unfinished, or asked for by name."""
    if earlier is None:
        return [], list(found)
    ids = {one.id for one in found}
    kept = [entry for entry in earlier.submissions.values() if entry.id not in ids]
    if not is_resumed:
        return kept, list(found)
    todo = []
    for one in found:
        entry = earlier.submissions.get(one.id)
        if (
            entry
            and entry.status is not Status.GRADER_ERROR
            and file_digest(entry.files) == stage(one, assignment).digest
        ):
            kept.append(entry)
        else:
            todo.append(one)
    return kept, todo


def gone(earlier: Earlier | None, ids: Iterable[str]) -> list[Submission]:
    """Entries of the earlier report whose submissions are not there any more. `ids`: those that are."""
    there = set(ids)
    return [entry for entry in earlier.submissions.values() if entry.id not in there] if earlier else []
