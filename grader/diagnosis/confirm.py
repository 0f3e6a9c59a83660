"""Whether a failure is the one that a mistake brings about: the same operation, on operands of the same shapes.

That two programs raise, or that both give NaN, proves nothing by itself. What raised, or first made NaN, does.
"""

from grader.diagnosis.predict import Made, Predictions
from grader.examination import Examination
from grader.question import Observation
from grader.traced import Failure, failure_of


class Failures:
    """How a submission fails, call by call, beside how the reference does with mistakes made in it."""

    def __init__(self, examination: Examination, predictions: Predictions) -> None:
        self._examination = examination
        self._predictions = predictions
        self._seen: dict[str, Failure | None] = {}

    def are_alike(self, observation: Observation, made: Made) -> bool:
        """Whether both fail of the same, in a call that meets an object of its own."""
        question = observation.question
        if question.history:
            return False
        key = question.key
        if key not in self._seen:
            own = question.to_object(self._examination.new_handle())
            traced = self._examination.trace(own.call, own.upstream)
            self._seen[key] = failure_of(traced) if traced else None
        return self._seen[key] is not None and self._seen[key] == self._predictions.failure(made, key)
