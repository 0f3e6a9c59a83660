"""The mistakes of a submission as the staff's page tells them: each with what it cost, in words for people.

A student's page tells `student_records.StudentDiagnosis` and `StudentCharge`, which have the same fields but the ids.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from grader.report import Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged:
    """What a mistake cost in a part."""

    #: Title of the part.
    part: str
    #: Title of the mistake.
    title: str
    price: Decimal
    is_carried: bool
    #: The callable where it was charged already.
    carried_from: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """A recognised mistake."""

    part: str
    title: str
    #: Titles of mistakes that no input can tell from it.
    alternatives: tuple[str, ...]
    hint: str
    explanation: str
    evidence: str
    callables: tuple[str, ...]
    checks: tuple[str, ...]
    charged: tuple[Charged, ...]
    #: Its id, and those of its alternatives.
    ids: tuple[str, ...]
    catalogue: tuple[str, ...]


def mistakes_of(submission: Submission) -> list[Mistake]:
    """Every mistake that was recognised, in the report's order."""
    charged = charged_by_id(submission)
    return [
        Mistake(
            part=diagnosis.part,
            title=diagnosis.title,
            alternatives=diagnosis.alternatives,
            hint=diagnosis.hint,
            explanation=diagnosis.explanation,
            evidence=diagnosis.evidence,
            callables=diagnosis.callables,
            checks=diagnosis.checks,
            charged=tuple(one for mistake in diagnosis.mistakes for one in charged.get(mistake, ())),
            ids=diagnosis.mistakes,
            catalogue=diagnosis.catalogue,
        )
        for diagnosis in submission.diagnoses
    ]


def charged_by_id(submission: Submission) -> Mapping[str, list[Charged]]:
    """What each mistake cost, by its id, in the order of the parts."""
    charged: dict[str, list[Charged]] = {}
    for mistake, one in _charges(submission):
        charged.setdefault(mistake, []).append(one)
    return charged


def charged_by_part(submission: Submission) -> Mapping[str, list[Charged]]:
    """What was charged in each part, by the part's title."""
    charged: dict[str, list[Charged]] = {}
    for _, one in _charges(submission):
        charged.setdefault(one.part, []).append(one)
    return charged


def _charges(submission: Submission) -> Iterable[tuple[str, Charged]]:
    titles = {mistake: diagnosis.title for diagnosis in submission.diagnoses for mistake in diagnosis.mistakes}
    for part in submission.parts:
        for charge in part.charged:
            yield (
                charge.mistake,
                Charged(
                    part=part.title,
                    title=titles.get(charge.mistake, charge.mistake),
                    price=charge.price,
                    is_carried=charge.carried_from is not None,
                    carried_from=charge.carried_from,
                ),
            )
