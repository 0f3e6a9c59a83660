"""What is written down of the known mistakes: what is said of each, what it answers, rounded, and a small call.

Ids say nothing: those of the course lead to its own notes.
"""

from collections.abc import Mapping

from grader.diagnosis.mistakes import Mistake, Named
from grader.diagnosis.said import Numbers
from grader.grade import Grading
from grader.handout.calls import to_record
from grader.handout.contents import MistakeContents, RecordedExample, Shown, WrongAnswer, answer_of
from grader.handout.tensors import Rounded, RoundedRow, Tensors, largest_of
from grader.handout.tries import Changed, Showing, SmallCall
from grader.report import FeedbackLevel


class Known:
    """The mistakes that some visible check shows, in the making."""

    def __init__(self, grading: Grading, level: FeedbackLevel) -> None:
        self.rounded, self.exact = RoundedRow(), Tensors()
        self._grading = grading
        self._level = level
        self._shown: list[Shown] = []

    def add(self, showing: Showing) -> None:
        """What one mistake does to one callable."""
        self._shown.append(
            Shown(
                part=showing.part,
                callable=showing.callable,
                mistake=showing.mistake,
                answers=tuple(map(self._answer, showing.changed)),
                example=self._example(showing.example) if showing.example else None,
            )
        )

    @property
    def contents(self) -> MistakeContents:
        """All that was added."""
        there = {one.mistake for one in self._shown}
        known = [one for one in self._grading.reference.mistakes if one.id in there]
        names = {one.id: f"m{number}" for number, one in enumerate(known, 1)}
        return MistakeContents(
            mistakes=tuple(self._named(one, names[one.id]) for one in known),
            shown=tuple(one.model_copy(update={"mistake": names[one.mistake]}) for one in self._shown),
        )

    def _named(self, mistake: Mistake, id: str) -> Named:
        return Named(
            id=id,
            title=mistake.title,
            hint=mistake.hint,
            explanation=mistake.explanation if self._level is FeedbackLevel.FULL else "",
            price=self._grading.assignment.prices.get(mistake.id, mistake.price),
        )

    def _answer(self, changed: Changed) -> WrongAnswer:
        said = changed.said
        return WrongAnswer(
            question=changed.question,
            kind=said.kind.value,
            form=said.form,
            numbers=self.rounded.put(said.numbers, largest_of(said.numbers)),
            gradients=None if said.gradients is None else self._gradients(said.gradients),
            is_backward_raised=said.is_backward_raised,
            changed=tuple(sorted(said.changed)),
            bases=said.bases,
            stage=said.stage,
            failure=changed.failure,
        )

    def _gradients(self, gradients: Mapping[str, Numbers]) -> dict[str, Rounded]:
        largest = largest_of(*gradients.values())
        return {name: self.rounded.put(numbers, largest) for name, numbers in gradients.items()}

    def _example(self, example: SmallCall) -> RecordedExample:
        call, right = to_record(example.call, self.exact), example.right
        if isinstance(right, str):
            return RecordedExample(call=call, answer=None, error=right)
        answer = answer_of(example.call.digest, "reference", right, self.exact)
        return RecordedExample(call=call, answer=answer, error="")
