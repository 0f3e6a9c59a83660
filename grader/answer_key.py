"""The answer key of a run: what is right, and what the known mistakes make of it.

`ReferenceKey` has the course's reference and computes. What a student checks with has neither, and another key.
"""

from typing import Protocol

from grader.assignment import Assignment
from grader.diagnosis.computed import ComputedAnswers
from grader.diagnosis.edited import Edited
from grader.diagnosis.mistakes import Mistakes
from grader.diagnosis.predict import Answers
from grader.examination import Respondent, RightAnswers
from grader.oracle import Oracle
from grader.trusted import TrustedRespondent


class AnswerKey(Protocol):
    """What a grading compares with."""

    @property
    def mistakes(self) -> Mistakes:
        """The known mistakes."""

    @property
    def oracle(self) -> RightAnswers:
        """Where expected answers come from."""

    def respondent(self) -> Respondent:
        """Who answers every question of the checks rightly, for the rehearsal."""

    def answers_of(self, part: str, name: str) -> Answers:
        """What a callable answers when mistakes are made."""


class ReferenceKey:
    """The reference of a course, and its mistakes."""

    def __init__(self, assignment: Assignment, oracle: Oracle, mistakes: Mistakes) -> None:
        """Raises MistakeError where an edit cannot be made."""
        self.oracle = oracle
        self.mistakes = mistakes
        #: Makes references with mistakes in them.
        self.edited = Edited(mistakes)
        self._assignment = assignment

    def with_oracle(self, oracle: Oracle) -> "ReferenceKey":
        """The same, with other inputs behind it."""
        return ReferenceKey(self._assignment, oracle, self.mistakes)

    def respondent(self) -> TrustedRespondent:
        """The reference itself."""
        return TrustedRespondent(self.oracle)

    def answers_of(self, part: str, name: str) -> ComputedAnswers:
        """Those of the reference with mistakes made in it."""
        return ComputedAnswers(self.edited, self.oracle.target(part, name))
