"""The answer key of a run: what is right, and what the known mistakes make of it.

`ReferenceKey` has the course's reference and computes. What a student checks with has neither, and another key.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from grader.assignment import Assignment
from grader.call import Call
from grader.diagnosis.computed import ComputedAnswers
from grader.diagnosis.edited import Edited
from grader.diagnosis.explanation import Explanation
from grader.diagnosis.mistakes import Mistakes, Named
from grader.diagnosis.predict import Answers
from grader.diagnosis.taken_apart import reaching, without_harmless
from grader.examination import Respondent, RightAnswers
from grader.oracle import Oracle
from grader.trusted import TrustedRespondent


class AnswerKey(Protocol):
    """What a grading compares with."""

    @property
    def named(self) -> Mapping[str, Named]:
        """What is said of the known mistakes, by id."""

    @property
    def oracle(self) -> RightAnswers:
        """Where expected answers come from."""

    def respondent(self) -> Respondent:
        """Who answers every question of the checks rightly, for the rehearsal."""

    def answers_of(self, part: str, name: str) -> Answers:
        """What a callable answers when mistakes are made."""

    def examples_of(self, explanation: Explanation) -> Iterable[Call]:
        """Small calls that may show what was explained; none where they are found by trying."""


class ReferenceKey:
    """The reference of a course, and those of its mistakes that the assignment's callables can show."""

    def __init__(self, assignment: Assignment, oracle: Oracle, mistakes: Mistakes) -> None:
        """`mistakes`: all that the course knows. Raises MistakeError where an edit cannot be made."""
        self.oracle = oracle
        targets: dict[str, list[tuple[str, str]]] = {}
        for part in assignment.parts:
            for name in part.callables:
                targets.setdefault(name, []).append(oracle.target(part.name, name))
        #: Those that some callable of the assignment uses.
        self.reached = reaching(mistakes, [place for places in targets.values() for place in places])
        #: Those that some callable of the assignment can show.
        self.mistakes = without_harmless(self.reached, targets)
        #: Makes references with mistakes in them.
        self.edited = Edited(self.mistakes)
        self._assignment = assignment

    def with_oracle(self, oracle: Oracle) -> "ReferenceKey":
        """The same, with other inputs behind it."""
        return ReferenceKey(self._assignment, oracle, self.reached)

    @property
    def named(self) -> Mapping[str, Named]:
        """What is said of the mistakes, by id."""
        return self.mistakes.by_id

    def respondent(self) -> TrustedRespondent:
        """The reference itself."""
        return TrustedRespondent(self.oracle)

    def answers_of(self, part: str, name: str) -> ComputedAnswers:
        """Those of the reference with mistakes made in it."""
        return ComputedAnswers(self.edited, self.oracle.target(part, name))

    def examples_of(self, explanation: Explanation) -> Iterable[Call]:
        """None: examples are found by asking the reference."""
        return ()
