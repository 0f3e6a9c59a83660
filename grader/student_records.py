"""The records of what one student may see of a run; `student_view` alone decides what is in them.

They mirror those of `report` and `finding`, field by field, without what is the staff's.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from grader.adjustment import AdjustmentKind
from grader.report import FeedbackLevel, Status
from grader.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentCharge:
    """What a mistake cost in a part."""

    #: Title of the part.
    part: str
    #: The mistake's title, or `FOUND_BY_HIDDEN_CHECKS`.
    title: str
    price: Decimal
    #: Whether it was charged elsewhere already.
    is_carried: bool
    #: The callable where it was, unless only hidden checks show it there.
    carried_from: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentPart:
    """A part's points."""

    name: str
    title: str
    file: str
    score: Decimal | None
    max_score: Decimal
    #: Points by the checks alone; differs from `score` where a mistake was charged once instead of per check.
    score_checks: Decimal | None
    #: What was charged instead.
    charged: tuple[StudentCharge, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentMeasured:
    """How far an answer is from PyTorch's own; as `measured.Measured`."""

    name: str
    is_gradient: bool
    is_parameter: bool
    source: str
    difference: float
    allowed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentCheck:
    """A check as its student may see it; texts are empty where the level or secrecy says so."""

    #: The check's own id, or `hidden-N`, counted within the submission.
    id: str
    title: str
    part: str
    visible: bool
    verdict: Verdict
    score: Decimal | None
    max_score: Decimal
    description: str
    callable: str
    message: str
    hint: str
    output: str
    output_cut: bool
    #: Id of a check of this view, or name of a file.
    blocked_by: str | None
    #: Of a visible check that compares with PyTorch.
    measured: tuple[StudentMeasured, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentDiagnosis:
    """A recognised mistake that some visible check shows; the ids of checks are those of this view."""

    part: str
    title: str
    #: Titles of mistakes that no input can tell from it.
    alternatives: tuple[str, ...]
    hint: str
    #: Empty below level full.
    explanation: str
    evidence: str
    #: Those of its callables that fail a visible check.
    callables: tuple[str, ...]
    checks: tuple[str, ...]
    charged: tuple[StudentCharge, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentMatrix:
    """A small tensor or a plain value; as `finding.Matrix`."""

    name: str
    shape: tuple[int, ...]
    axes: tuple[str, ...]
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentExample:
    """A small call in which a callable goes wrong; as `finding.Example`."""

    part: str
    callable: str
    call: str
    inputs: tuple[StudentMatrix, ...]
    expected: tuple[StudentMatrix, ...]
    observed: tuple[StudentMatrix, ...]
    remark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentStep:
    """A tensor operation of the student's code; as `finding.Step`."""

    file: str
    line: int | None
    operation: str
    inputs: tuple[str, ...]
    output: str
    times: int
    stage: str
    departs: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentShapes:
    """The way of the tensors through a callable; as `finding.Shapes`."""

    part: str
    callable: str
    call: str
    sizes: str
    steps: tuple[StudentStep, ...]
    is_cut: bool
    wanted: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentAdjustment:
    """What was done to the score after grading."""

    kind: AdjustmentKind
    points: Decimal
    #: Empty for a hidden check.
    reason: str
    #: Title of the check that staff decided on; empty for the whole submission.
    check: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentView:
    """All that one student may see of a run."""

    assignment_title: str
    #: The level in force on the day the view was made.
    level: FeedbackLevel
    #: Seed of the inputs, to repeat the visible checks; None at level verdict, which shows no inputs.
    seed: int | None
    created: datetime
    grader_version: str
    torch: str
    id: str
    status: Status
    #: What the code earned.
    score: Decimal | None
    max_score: Decimal
    #: What counts: the score with the adjustments.
    final_score: Decimal | None
    adjustments: tuple[StudentAdjustment, ...]
    #: When it was handed in, and how that is to the deadline, in words; empty where nobody says.
    handed_in: str
    reason: str | None
    notes: tuple[str, ...]
    files: tuple[str, ...]
    parts: tuple[StudentPart, ...]
    checks: tuple[StudentCheck, ...]
    diagnoses: tuple[StudentDiagnosis, ...]
    #: Callables that fail a visible check in a way that no known mistake explains.
    unrecognised: tuple[str, ...]
    examples: tuple[StudentExample, ...]
    shapes: tuple[StudentShapes, ...]
