"""Whether a failure is the one that a mistake brings about: the same operation, on operands of the same shapes.

That two programs raise, or that both give NaN, proves nothing by itself. What raised, or first made NaN, does.
"""

from grader.diagnosis.predict import Made, Predictions
from grader.examination import Examination
from grader.outcome import Raised
from grader.question import Observation
from grader.traced import Traced, weak_signature


class Failures:
    """How a submission fails, call by call, beside how edited references do."""

    def __init__(self, examination: Examination, predictions: Predictions) -> None:
        self._examination = examination
        self._predictions = predictions
        self._seen: dict[str, tuple[object, ...] | None] = {}

    def are_alike(self, observation: Observation, made: Made) -> bool:
        """Whether both fail of the same, in a call that meets an object of its own."""
        question = observation.question
        if question.history:
            return False
        key = question.key
        if key not in self._seen:
            own = question.to_object(self._examination.new_handle())
            self._seen[key] = _failure(self._examination.trace(own.call, own.upstream))
        return self._seen[key] is not None and self._seen[key] == _failure(self._predictions.trace(made, key))


def _failure(traced: Traced | None) -> tuple[object, ...] | None:
    """What a call failed of; None when nothing is certain."""
    if traced is None:
        return None
    signature = weak_signature(traced)
    reply = traced.reply
    if signature is None and isinstance(reply, Raised) and _is_deliberate(reply):
        return "deliberate", reply.type, reply.stage
    return signature


def _is_deliberate(raised: Raised) -> bool:
    """Whether a statement of the program's own raised it, and no operation."""
    return bool(raised.frames) and raised.frames[-1].text.strip().startswith(("raise ", "assert "))
