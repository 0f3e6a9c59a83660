"""Grading one submission, from its folder to its entry in the report: stage, examine, diagnose, score."""

import gc
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import torch

from grader.answer_key import AnswerKey, ReferenceKey
from grader.assignment import Assignment, AssignmentError
from grader.batch import Batch, make_batches
from grader.conversation import Conversation, TimeLimits
from grader.course import Course
from grader.diagnosis.diagnose import Diagnostics
from grader.diagnosis.explanation import Explanation
from grader.diagnosis.findings import findings, prices_of
from grader.diagnosis.illustrate import Illustrated, Illustrator
from grader.diagnosis.mistakes import MistakeError, read_mistakes
from grader.examination import Examination, Respondent
from grader.examine import Checking, Examined, ExamineError, with_checks
from grader.find import Found
from grader.given import Inputs
from grader.launch import Launcher
from grader.oracle import Oracle, OracleError
from grader.outcome import Scanned
from grader.report import Submission
from grader.score import score_submission, ungradable
from grader.sources import Sources
from grader.stage import Staged, stage
from grader.verdict import Verdict

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What was found out about the files of a submission."""

    scanned: Scanned
    examined: Examined
    illustrated: Illustrated


@dataclass(frozen=True, slots=True, kw_only=True)
class Grading:
    """All that the submissions of one run share."""

    assignment: Assignment
    checking: Checking
    inputs: Inputs
    key: AnswerKey
    #: What every submission is asked, known from the rehearsal.
    batches: tuple[Batch, ...] = ()
    #: What explains a failure; None until the rehearsal.
    diagnostics: Diagnostics | None = None
    #: A call's deadline that overrides the assignment's.
    call_s: float | None = None

    def submission(self, found: Found, launcher: Launcher) -> Submission:
        """The report entry of one submission.

        Raises:
            LaunchError, ExamineError, IntakeError: faults of the grader, or of its machine.
        """
        staged = stage(found, self.assignment)
        return self.entry(staged, None if staged.is_empty else self.look(staged, launcher))

    def look(self, staged: Staged, launcher: Launcher, parts: Collection[str] | None = None) -> Looked:
        """All that is found out about the files of a submission; of these parts only, where they are named.

        Raises:
            LaunchError, ExamineError: faults of the grader, or of its machine.
        """
        with self._conversation(staged.sources, launcher) as conversation:
            scanned = conversation.scan()
            examination = self._examination(conversation, staged.sources)
            examined, explained = self._examined(conversation, examination, parts)
            return Looked(scanned=scanned, examined=examined, illustrated=self._illustrated(examination, explained))

    def entry(self, staged: Staged, looked: Looked | None) -> Submission:
        """The report entry of what was found out; of a submission of which nothing could be read, None."""
        if looked is None:
            return ungradable(self.assignment, staged)
        told = findings(self.key.named, looked.illustrated)
        return score_submission(self.assignment, staged, looked.examined, looked.scanned, told)

    def examine(self, sources: Sources, launcher: Launcher) -> Examined:
        """Put every check to these sources, in workers of the launcher."""
        with self._conversation(sources, launcher) as conversation:
            conversation.scan()
            examined, _ = self._examined(conversation, self._examination(conversation, sources))
        return examined

    def try_out(self, respondent: Respondent) -> tuple[Examined, tuple[Explanation, ...]]:
        """Put every check to trusted code that has all the files there are, and explain what fails."""
        return self._diagnosed(self._examination(respondent, Sources(texts=dict.fromkeys(self.assignment.files, ""))))

    def _conversation(self, sources: Sources, launcher: Launcher) -> Conversation:
        return Conversation(
            launcher, sources.texts, self.assignment, TimeLimits.of(self.assignment.limits, self.call_s)
        )

    def _examined(
        self, conversation: Conversation, examination: Examination, parts: Collection[str] | None = None
    ) -> tuple[Examined, tuple[Explanation, ...]]:
        found = self._diagnosed(examination, parts)
        if conversation.fault:  # pytest took it for a check that failed
            raise conversation.fault
        return found

    def _diagnosed(
        self, examination: Examination, parts: Collection[str] | None = None
    ) -> tuple[Examined, tuple[Explanation, ...]]:
        examined = self.checking.examine(examination, parts)
        return examined, self.diagnostics.diagnose(examination, examined) if self.diagnostics else ()

    def _illustrated(self, examination: Examination, explained: Sequence[Explanation]) -> Illustrated:
        if self.diagnostics is None:
            return Illustrated(explained=tuple(explained))
        pairs = [(one, self.diagnostics.predictions(one.part, one.callable)) for one in explained]
        return Illustrator(examination, self.key.examples_of).illustrate(pairs)

    def with_seed(self, reference: Path, seed: int) -> "Grading":
        """The same, rehearsed, with inputs of another seed. `reference`: the course's folder of that name."""
        inputs = Inputs(seed)
        key = self.reference.with_oracle(Oracle(reference, self.assignment, inputs))
        return replace(self, inputs=inputs, key=key, batches=(), diagnostics=None).rehearsed()

    @property
    def reference(self) -> ReferenceKey:
        """The answer key, where it is the course's own reference: of whatever `with_grading` gives."""
        assert isinstance(self.key, ReferenceKey)
        return self.key

    def rehearsed(self) -> "Grading":
        """Put every check to the reference itself. Warms everything a session needs, and proves that right code passes.

        Returns:
            The same, with the questions that were put as batches.

        Raises:
            AssignmentError: the reference does not pass, or the checks do not fit the assignment.
            ExamineError, OracleError: faults of the course.
        """
        sources = Sources(texts=dict.fromkeys(self.assignment.files, ""))
        examination = self._examination(self.key.respondent(), sources)
        examined = self.checking.examine(examination)
        failed = [result for result in examined.results if result.verdict is not Verdict.PASSED]
        if failed:
            more = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
            raise AssignmentError(
                f"{self.assignment.checks}: the reference itself fails {failed[0].id} "
                f"({failed[0].verdict.label}){more}; the check or the reference is wrong\n{failed[0].message}"
            )
        questions = [one.question for one in examination.observations.values()]
        observed = examination.observations.values()
        diagnostics = Diagnostics(self.assignment, self.key.answers_of, observed, examination.put_by)
        batches = make_batches(one for one in questions if not one.history)
        return replace(self, batches=batches, diagnostics=diagnostics)

    def _examination(self, respondent: Respondent, sources: Sources) -> Examination:
        return Examination(self.assignment, self.inputs, self.key.oracle, respondent, sources, self.batches)


def with_grading(
    course: Course,
    assignment: Assignment,
    seed: int,
    body: Callable[[Grading], Result],
    call_s: float | None = None,
    *,
    are_all: bool = True,
) -> Result:
    """Call `body` with what a run needs, rehearsed: warm, and every expected answer known.

    `are_all`: with the hidden checks.

    Raises:
        AssignmentError: the checks, the reference or the prices do not fit the assignment.
    """

    def key() -> ReferenceKey:
        oracle.must_have_all()
        return ReferenceKey(assignment, oracle, mistakes)

    torch.set_num_threads(1)  # examiners are forked from this process, and a fork keeps one thread
    inputs = Inputs(seed)
    try:
        oracle = Oracle(course.reference, assignment, inputs)
        mistakes = read_mistakes(course.reference)
        assignment.must_know_prices(prices_of(mistakes.by_id))
        return with_key(assignment, inputs, key, body, call_s, are_all=are_all)
    except (OracleError, ExamineError, MistakeError) as error:
        raise AssignmentError(str(error)) from None


def with_key(
    assignment: Assignment,
    inputs: Inputs,
    make_key: Callable[[], AnswerKey],
    body: Callable[[Grading], Result],
    call_s: float | None = None,
    *,
    are_all: bool = True,
) -> Result:
    """Call `body` with what a run needs, rehearsed, where the answer key is made by `make_key`. See `with_grading`.

    Raises:
        AssignmentError: the checks do not fit the assignment, or the answer key.
        ExamineError, MistakeError: faults of the course.
    """

    def rehearsed(checking: Checking) -> Result:
        try:
            grading = Grading(assignment=assignment, checking=checking, inputs=inputs, key=make_key(), call_s=call_s)
            grading = grading.rehearsed()
        except OracleError as error:
            raise AssignmentError(str(error)) from None
        gc.collect()
        gc.freeze()  # examiners share what is here with this process, as long as nobody writes to it
        return body(grading)

    return with_checks(assignment, rehearsed, are_all=are_all)
