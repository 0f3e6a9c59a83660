"""Final scores within a run: what staff decided is read and matched, and every entry, graded or kept, gets its own.

The arithmetic is in `adjust`. Here it meets the folder of the reports and the screen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path

from grader.adjust import Adjusting
from grader.assignment import Assignment
from grader.overrides import Override, match_overrides, must_know_checks, read_overrides
from grader.people.called import Handed
from grader.publish import is_published, publish_submission
from grader.report import RunHeader, Submission
from grader.store import Earlier, Store
from grader.terminal import Screen


@dataclass(frozen=True, slots=True, kw_only=True)
class Finals:
    """Gives entries of one run their final scores."""

    adjusting: Adjusting
    overrides: Sequence[Override]
    screen: Screen

    def of(self, entry: Submission) -> Submission:
        """The entry with its final score. Overrides that cannot do what they say are told."""
        for remark in self.adjusting.unmet(entry):
            self.screen.say(remark)
        return self.adjusting.applied(entry)

    def begin(
        self,
        store: Store,
        header: RunHeader,
        earlier: Earlier | None,
        kept: Sequence[Submission],
        checks: Mapping[str, Decimal],
        today: date,
    ) -> None:
        """Begin the journal with what is kept of an earlier run, as it is to be now, and write the pages that change.

        Pages come first: a run that is killed in between leaves the old entries, and the next one writes both again.

        Args:
            store: where.
            header: this run.
            earlier: the run that is continued, if one is, as it left it.
            kept: what is kept of it.
            checks: points of every check, by id.
            today: decides how much students are told, where the assignment names a day for it.

        Raises:
            OverrideError: an override is about a check that is none, or gives more points than there are.
        """
        must_know_checks(self.overrides, checks)
        finals = [self.of(entry) for entry in kept]
        may_tell_more = header.assignment.feedback.full_from is not None
        is_same = earlier is not None and earlier.header == header and not may_tell_more
        before = earlier.submissions if earlier else {}
        for entry in finals:
            if not is_same or entry != before.get(entry.id) or not is_published(store, entry):
                publish_submission(store, header, entry, today)
        store.begin(header, finals)


def finals_of(
    store: Store, named: Path | None, assignment: Assignment, submissions: Sequence[Handed], screen: Screen
) -> Finals:
    """Read what staff decided, and say what was read.

    Args:
        store: the folder of the reports, whose `overrides.csv` is read where no file is named.
        named: the file that was named.
        assignment: what is graded; its late policy holds.
        submissions: all that the report will hold.
        screen: where to say it.

    Raises:
        SheetError, OverrideError: the file cannot be used.
    """
    overrides: tuple[Override, ...] = ()
    file = named or store.overrides
    if named or file.exists():
        overrides = read_overrides(file, assignment.max_score)
        other = store.overrides if named and store.overrides.exists() and not store.overrides.samefile(named) else None
        count = f"{len(overrides)} {'override' if len(overrides) == 1 else 'overrides'}"
        screen.say(f"{file}: {count}{f'; {other} is not read' if other else ''}")
    elif store.holds_overrides():
        screen.say(
            f"the earlier report holds overrides, and there is no {file}: this one is without them. Put their file "
            "there, or name it with --overrides"
        )
    matched = match_overrides(overrides, submissions)
    screen.say_some(matched.remarks)
    adjusting = Adjusting(policy=assignment.late, decided=matched.by_id)
    return Finals(adjusting=adjusting, overrides=overrides, screen=screen)
