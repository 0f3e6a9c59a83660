"""What is done to a score after grading: first what staff decided of single checks, then late days, or a total at last.

`score`, the parts and the checks stay what the code earned; `final_score` is `score` with the adjustments made here.
They are made anew from the graded entry each time, so an entry that is kept of an earlier run gets what holds today.

A check that staff decide on moves the points of its callable by as much as its own. Where mistakes are charged a
callable has lost less than its checks say, so its points stay between 0 and what it is worth, and those of a part
between 0 and its points: nobody gets more back than was taken. A total is final: late days take nothing off it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from grader.adjustment import Adjustment, AdjustmentKind
from grader.late import LatePolicy
from grader.overrides import Override
from grader.report import Check, Part, Submission
from grader.show import for_terminal

#: A part, and a callable in it; None stands for the whole part.
_Place = tuple[str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjusting:
    """What holds for all entries of a run."""

    #: What late days cost; None where they cost nothing.
    policy: LatePolicy | None = None
    #: What staff decided, by id of the submission.
    decided: Mapping[str, Sequence[Override]] = field(default_factory=dict)

    def applied(self, submission: Submission) -> Submission:
        """The entry with the adjustments that hold for it, and with none else. The same one when they are its own."""
        return adjusted(submission, self.policy, self.decided.get(submission.id, ()))

    def unmet(self, submission: Submission) -> list[str]:
        """Which overrides of a submission do not do what they say, and why."""
        return unmet(submission, self.decided.get(submission.id, ()))


def adjusted(submission: Submission, policy: LatePolicy | None, overrides: Sequence[Override]) -> Submission:
    """An entry with the adjustments that a policy and overrides make, in place of those it has."""
    made = tuple(_adjustments(submission, policy, overrides))
    if made == submission.adjustments:
        return submission
    final = (submission.score or Decimal(0)) + _sum(made) if made else submission.score
    fields = dict(submission) | {"adjustments": made, "final_score": final}
    return Submission(**fields)  # checked again, which `model_copy` would not do


def unmet(submission: Submission, overrides: Sequence[Override]) -> list[str]:
    """Say of overrides of single checks where they could not give or take what they say."""
    decided = {one.check: one for one in overrides if one.check is not None}
    has_total = len(decided) < len(overrides)
    given = {made.check: made.points for made in _of_checks(submission, decided)}
    texts = []
    for check in submission.checks:
        if check.id in given:
            asked, made = decided[check.id].points - (check.score or Decimal(0)), given[check.id]
            if asked != made:
                limit = "lost no more" if asked > 0 else "has no more"
                told = f"{asked:+.2f} points asked for and {made:+.2f} made, because {check.callable} {limit}"
                texts.append(f"{_place(submission, decided[check.id])}: {told}")
    for name, one in decided.items():
        if name not in given and not has_total:
            why = f"the submission is {submission.status.replace('_', ' ')}, and no points of its checks are known"
            texts.append(f"{_place(submission, one)}: left out, because {why}; decide its total instead")
    return texts


def _place(submission: Submission, override: Override) -> str:
    return f"{override.where}: {for_terminal(submission.id)}, {override.what}"


def _adjustments(
    submission: Submission, policy: LatePolicy | None, overrides: Sequence[Override]
) -> Iterator[Adjustment]:
    of_checks = _of_checks(submission, {one.check: one for one in overrides if one.check is not None})
    yield from of_checks
    total = next((one for one in overrides if one.check is None), None)
    reached = (submission.score or Decimal(0)) + _sum(of_checks)
    if total:
        yield Adjustment(kind=AdjustmentKind.OVERRIDE, points=total.points - reached, reason=total.reason)
    elif policy and submission.score is not None:
        late = policy.deduction(reached, submission.handed_in)
        if late:
            yield late


def _of_checks(submission: Submission, decided: Mapping[str, Override]) -> list[Adjustment]:
    """What overrides of single checks change, in the order of the checks: that of the lines is no matter."""
    if submission.score is None:
        return []
    points = _Points(submission)
    return [
        Adjustment(
            kind=AdjustmentKind.OVERRIDE,
            points=points.moved(check, decided[check.id].points),
            reason=decided[check.id].reason,
            check=check.id,
        )
        for check in submission.checks
        if check.id in decided
    ]


class _Points:
    """What is left to give and to take, by part and by callable."""

    def __init__(self, submission: Submission) -> None:
        self._lost: dict[_Place, Decimal] = defaultdict(Decimal)
        self._had: dict[_Place, Decimal] = defaultdict(Decimal)
        for check in submission.checks:
            score = check.score or Decimal(0)
            self._add(check.max_score - score, score, (check.part, check.callable))
        for part in submission.parts:
            score = part.score or Decimal(0)
            self._add(part.max_score - score, score, (part.name, None))
            for callable_name, price in _charged(part).items():
                place = part.name, callable_name
                worth = self._lost[place] + self._had[place]
                self._lost[place], self._had[place] = price, worth - price

    def moved(self, check: Check, points: Decimal) -> Decimal:
        """How far setting a check's points moves those of the submission."""
        places: tuple[_Place, _Place] = (check.part, None), (check.part, check.callable)
        most = min(self._lost[place] for place in places)
        least = -min(self._had[place] for place in places)
        change = max(least, min(points - (check.score or Decimal(0)), most))
        for place in places:
            self._add(-change, change, place)
        return change

    def _add(self, lost: Decimal, had: Decimal, place: _Place) -> None:
        self._lost[place] += lost
        self._had[place] += had


def _charged(part: Part) -> dict[str, Decimal]:
    """What callables lose that are charged for their mistakes instead of their checks."""
    lost: dict[str, Decimal] = {}
    for charge in part.charged:
        if charge.callable:
            lost[charge.callable] = lost.get(charge.callable, Decimal(0)) + charge.price
    return lost


def _sum(adjustments: Iterable[Adjustment]) -> Decimal:
    return sum((one.points for one in adjustments), Decimal(0))
