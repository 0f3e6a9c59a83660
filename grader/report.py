"""The report of one run: what report.json holds; `report_json` writes and reads it.

This is the one source of every other report. The stages before it fill the records; the renderers only read them.

The records describe; they do not add up points, and they do not decide who may see what (see `student_view`).
"""

import enum
from datetime import date
from decimal import Decimal
from typing import Any, Final, Literal, Self

from pydantic import AwareDatetime, Field, model_validator

from grader.adjustment import Adjustment
from grader.finding import Charge, Diagnosis, Example, Shapes
from grader.handed_in import HandIn, Person
from grader.late import LatePolicy
from grader.measured import Measured
from grader.record import Record, Score, Seconds, StudentText
from grader.verdict import Verdict

#: Version of the format. It rises when a field changes its meaning or goes away, not when one is added.
SCHEMA_VERSION: Final = 1

_LONGEST_PROBLEM = 160


class Status(enum.StrEnum):
    """Whether a submission has a score, and if not, whose fault that is."""

    #: Every check has a verdict.
    GRADED = "graded"
    #: Nothing of it could be read; score 0, and `reason` says what to do.
    UNGRADABLE = "ungradable"
    #: The grader failed; the score is null, never 0.
    GRADER_ERROR = "grader_error"


class Isolation(enum.StrEnum):
    """How far student code was kept away from the grader and the machine."""

    STRONG = "strong"
    PARTIAL = "partial"
    NONE = "none"


class FeedbackLevel(enum.StrEnum):
    """How much of a report a student may see."""

    #: Titles, verdicts and scores.
    VERDICT = "verdict"
    #: Also messages, hints and printed text of visible checks; title and hint of each recognised mistake that such a
    #: check shows, with small examples, shapes on the way, and what was charged.
    HINT = "hint"
    #: Also the explanation of each such mistake.
    FULL = "full"


class Feedback(Record):
    """What an assignment lets its students see."""

    level: FeedbackLevel = FeedbackLevel.HINT
    """The most a student may see."""
    full_from: date | None = None
    """First day on which level full applies; it is hint before. Null: from the start."""


class Assignment(Record):
    """The assignment that was graded."""

    name: str
    """Name of the assignment's folder."""
    title: str
    """Title for people."""
    max_score: Score
    """Points of all parts together."""
    digest: str
    """Hash over everything that can change a grade: the assignment's files and the reference."""
    feedback: Feedback = Feedback()
    """What its students may see."""
    late: LatePolicy | None = None
    """What handing in late costs; null where nothing is taken off for it."""


class Grader(Record):
    """The program that graded, and the versions that can change a result."""

    version: str
    """Version of this package."""
    python: str
    """Version of Python."""
    torch: str
    """Version of torch."""
    isolation: Isolation
    """How far student code was kept away, as found by trying."""
    isolation_detail: str = ""
    """What is missing for strong isolation and how to get it; empty when nothing is."""


class SourceFile(Record):
    """One file of a submission, as it was read."""

    name: StudentText
    """Name inside the submission."""
    sha256: str
    """SHA-256 of the bytes that were run."""


class Part(Record):
    """One stub file of the assignment, with its share of the points."""

    name: str
    """Name of the part."""
    title: str
    """Title for people."""
    file: str
    """The stub file students hand in."""
    score: Score | None
    """Points reached; null when the grader failed in this part."""
    max_score: Score
    """Points there are."""
    score_checks: Score | None
    """Points by the checks alone, before mistakes are charged once instead of per check."""
    charged: tuple[Charge, ...] = ()
    """What each recognised mistake cost."""


class Check(Record):
    """One question put to the student's code, and what came of it."""

    id: str
    """Name of the check, unique in the assignment. May tell what a hidden check asks."""
    title: str
    """What it checks, as a student reads it; public even when the check is hidden."""
    description: str = ""
    """More about what it checks."""
    part: str
    """Name of the part it belongs to."""
    callable: str
    """The function or class it asks."""
    visible: bool
    """Whether students have this check. Of a hidden one they see title, verdict and points."""
    verdict: Verdict
    """What it concludes."""
    score: Score | None
    """Points reached; null exactly when the verdict is grader_error."""
    max_score: Score
    """Points there are."""
    message: StudentText = ""
    """What is wrong, in up to five lines; empty when passed."""
    hint: StudentText = ""
    """What to look at; empty when there is nothing to say."""
    output: StudentText = ""
    """What the student's code printed during the check."""
    output_cut: bool = False
    """Whether `output` is only the beginning of what was printed."""
    blocked_by: StudentText | None = None
    """Id of the check, or name of the file, that must be right first."""
    measured: tuple[Measured, ...] = ()
    """How far its answers are from PyTorch's own, where it compares with that; when it passes, too."""
    duration_s: Seconds = 0.0
    """Seconds it took."""

    @model_validator(mode="after")
    def _null_score_is_the_graders_fault(self) -> Self:
        if (self.score is None) != (self.verdict is Verdict.GRADER_ERROR):
            raise ValueError(f"a null score exactly for verdict grader_error (score {self.score}, {self.verdict})")
        return self


class Flag(Record):
    """Something a person should look at. Never shown to students, never worth points by itself."""

    kind: str
    """What sort of sign it is."""
    file: StudentText
    """File it was seen in."""
    line: int | None = Field(default=None, ge=1)
    """Line it was seen on."""
    detail: StudentText
    """What was seen."""


class Submission(Record):
    """One student's folder, graded."""

    id: StudentText
    """Name of the folder or archive, unique in the run."""
    status: Status
    """Whether it has a score."""
    score: Score | None
    """Points reached by the code; null exactly when the status is grader_error."""
    max_score: Score
    """Points there are."""
    final_score: Score | None = None
    """Points that count: `score` with all `adjustments`. Null where there is no score and nobody decided one."""
    adjustments: tuple[Adjustment, ...] = ()
    """What was done to the score after grading, in order: late days, and what staff decided."""
    people: tuple[Person, ...] = ()
    """Whose submission it is, as far as that is known; several for a group."""
    handed_in: HandIn | None = None
    """When it was handed in; null where nobody says."""
    reason: StudentText | None = None
    """Why it is ungradable, or how the grader failed, and what to do; null when graded."""
    notes: tuple[StudentText, ...] = ()
    """What was noticed on the way, such as a misspelt file name that was accepted."""
    files: tuple[SourceFile, ...] = ()
    """The files that were read."""
    parts: tuple[Part, ...] = ()
    """The parts, in the assignment's order."""
    checks: tuple[Check, ...] = ()
    """The checks, in the assignment's order."""
    diagnoses: tuple[Diagnosis, ...] = ()
    """The mistakes that were recognised."""
    unrecognised: tuple[str, ...] = ()
    """Functions and classes that answered wrongly in a way that no known mistake explains whole."""
    examples: tuple[Example, ...] = ()
    """Small examples of what goes wrong, one a callable at most."""
    shapes: tuple[Shapes, ...] = ()
    """Tensor operations of what goes wrong, one a callable at most."""
    flags: tuple[Flag, ...] = ()
    """What a person should look at."""

    @model_validator(mode="before")
    @classmethod
    def _final_score_is_the_score_when_nothing_changes_it(cls, fields: Any) -> Any:
        if isinstance(fields, dict) and "final_score" not in fields and not fields.get("adjustments"):
            return {**fields, "final_score": fields.get("score")}
        return fields

    @model_validator(mode="after")
    def _final_score_is_the_score_with_its_adjustments(self) -> Self:
        known = self.score if self.score is not None or not self.adjustments else Decimal(0)
        wanted = known if known is None else known + sum(one.points for one in self.adjustments)
        if self.final_score != wanted:
            raise ValueError(f"a final score that is the score with its adjustments ({wanted}, got {self.final_score})")
        return self

    @model_validator(mode="after")
    def _score_and_reason_fit_the_status(self) -> Self:
        if (self.score is None) != (self.status is Status.GRADER_ERROR):
            raise ValueError(f"a null score exactly for status grader_error (score {self.score}, {self.status})")
        if (self.reason is None) != (self.status is Status.GRADED):
            raise ValueError(f"a null reason exactly for status graded (reason {self.reason!r}, {self.status})")
        return self


class RunHeader(Record):
    """What all submissions of a run share. All a page needs besides its own submission."""

    schema_version: Literal[1] = SCHEMA_VERSION
    """Version of this format."""
    created: AwareDatetime
    """When the run began."""
    seed: int = Field(ge=0)
    """Seed of all inputs; `--seed` with this number replays the run."""
    timeout_s: float = Field(gt=0)
    """Limit of one call of a student's code, in seconds."""
    assignment: Assignment
    """What was graded."""
    grader: Grader
    """What graded."""
    imported: StudentText = ""
    """How the class was handed over, in words: by which platform, how many files, how many marked late."""
    roster: StudentText = ""
    """Name of the file that says who is in the class; empty without one."""
    on_roster: int = Field(default=0, ge=0)
    """How many people it names."""
    missing: tuple[Person, ...] = ()
    """People on the roster of whom there is no submission."""
    strangers: tuple[StudentText, ...] = ()
    """Ids of submissions of which nobody is on the roster."""


class Report(RunHeader):
    """A run and all its submissions: the content of report.json."""

    submissions: tuple[Submission, ...] = ()
    """The submissions, in the order of the run."""

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        seen: set[str] = set()
        for submission in self.submissions:
            if submission.id in seen:
                raise ValueError(f"ids that differ (two are {submission.id!r})")
            seen.add(submission.id)
        return self


def first_problem(submission: Submission) -> str:
    """Say in one line what is wrong first with a submission: the first recognised mistake; empty when nothing is wrong.

    The line may hold a student's own characters, and what only staff may see.
    """
    if submission.status is not Status.GRADED:
        label = "grader error" if submission.status is Status.GRADER_ERROR else "ungradable"
        return _one_line(f"{label}: {submission.reason}")
    if submission.diagnoses:
        return _one_line(f"{submission.diagnoses[0].part}: {submission.diagnoses[0].title}")
    failed = [check for check in submission.checks if check.verdict is not Verdict.PASSED]
    if not failed:
        return ""
    first = min(failed, key=lambda check: (check.verdict is Verdict.BLOCKED, check.verdict.rank))
    return _one_line(f"{first.part}: {first.verdict.label}: {_what_is_wrong(first)}")


def _what_is_wrong(check: Check) -> str:
    """Up to NOT_IMPLEMENTED a verdict is about the file or the name, and any check's title would mislead."""
    if check.verdict.rank <= Verdict.NOT_IMPLEMENTED.rank and check.message.strip():
        return check.message.strip().splitlines()[0]
    return check.title


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_PROBLEM else line[: _LONGEST_PROBLEM - 1] + "…"
