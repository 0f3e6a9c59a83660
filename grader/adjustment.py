"""What is done to a score after grading: late days, and what staff decided. What was graded stays beside it."""

import enum
from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, Field, PlainSerializer, WithJsonSchema

from grader.record import MOST_POINTS, Record, StudentText, round_score

#: Points that are added, or taken where they are below 0.
Change = Annotated[
    Decimal,
    Field(ge=-MOST_POINTS, le=MOST_POINTS, allow_inf_nan=False),
    AfterValidator(round_score),
    PlainSerializer(float, return_type=float, when_used="json"),
    WithJsonSchema({"type": "number", "description": "Points added, or taken; two places, halves rounded up."}),
]


class AdjustmentKind(enum.StrEnum):
    """Why a score is another than the grading gave."""

    LATE = "late"
    OVERRIDE = "override"


class Adjustment(Record):
    """One change of a score."""

    kind: AdjustmentKind
    """Why."""
    points: Change
    """What it adds to the score, or takes from it."""
    reason: StudentText
    """In words, for staff and for the student."""
    check: str | None = None
    """Id of the check whose points staff decided; null for the whole submission."""
