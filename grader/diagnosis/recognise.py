"""What can be said of a callable without explaining it: it was not written, it never ran, it is right for one size."""

from collections.abc import Iterable, Mapping

from grader.diagnosis.explanation import Explanation
from grader.diagnosis.predict import Predictions
from grader.diagnosis.traits import DIFFERS, NOT_FILLED_IN, NOT_THERE, OTHER_DEVICE, Trait
from grader.outcome import Raised
from grader.question import Observation
from grader.verdict import Verdict

_NO_SUCH_NAME = ("AttributeError", "NameError")


def stated(
    predictions: Predictions, observations: Mapping[str, Observation], failed: Mapping[str, Verdict]
) -> Explanation | None:
    """What the answers state by themselves, so that no mistake need be looked for; None when it is nothing."""
    raised = [one.outcome.reply for one in observations.values() if isinstance(one.outcome.reply, Raised)]
    if any(one.stage == "import" for one in raised):
        return Explanation(part=predictions.part, callable=predictions.name)
    unfilled = [one for one in raised if one.is_unfilled]
    if unfilled:
        return _statement(predictions, NOT_FILLED_IN, failed, _place(unfilled[0]))
    if Verdict.UNSTABLE in failed.values():
        shown = {check: verdict for check, verdict in failed.items() if verdict is Verdict.UNSTABLE}
        return _statement(predictions, DIFFERS, shown)
    misspelt = [one for one in raised if one.type in _NO_SUCH_NAME and one.frames]
    if misspelt and len(misspelt) == len(observations):
        return _statement(predictions, NOT_THERE, failed, _place(misspelt[0]))
    elsewhere = [one for one in raised if _is_about_a_device(one.message)]
    if elsewhere:
        return _statement(predictions, OTHER_DEVICE, failed, _place(elsewhere[0]))
    return None


def by_size(
    predictions: Predictions, observations: Mapping[str, Observation], failed: Mapping[str, Verdict]
) -> Explanation:
    """That a callable is not recognised; and for which sizes it is right, where sizes decide it."""
    return Explanation(part=predictions.part, callable=predictions.name)


def _statement(predictions: Predictions, trait: Trait, checks: Iterable[str], evidence: str = "") -> Explanation:
    return Explanation(
        part=predictions.part,
        callable=predictions.name,
        traits=(trait,),
        shown_by={trait.id: tuple(checks)},
        evidence={trait.id: evidence} if evidence else {},
    )


def _place(raised: Raised) -> str:
    """Where it was raised, and what."""
    line = raised.frames[-1] if raised.frames else None
    where = f"{line.file}, line {line.line}: {line.text.strip()}: " if line else ""
    return f"{where}{raised.type}: {raised.message.partition(chr(10))[0]}"[:300]


def _is_about_a_device(message: str) -> bool:
    return "not compiled with CUDA" in message or "Found no NVIDIA driver" in message
