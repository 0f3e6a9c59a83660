"""What can be said of a callable without explaining it: it was not written, it never ran, it is right for one size."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from grader.diagnosis.by_size import deciding_size
from grader.diagnosis.explanation import Explanation
from grader.diagnosis.predict import NOTHING, Predictions
from grader.diagnosis.traits import (
    DIFFERS,
    NOT_FILLED_IN,
    NOT_THERE,
    ONE_SIZE,
    OTHER_DEVICE,
    RETURNS_NOTHING,
    STATE_KEPT,
    Trait,
)
from grader.examination import Examination
from grader.outcome import Node, Raised, Returned
from grader.question import Observation
from grader.verdict import Verdict

_NO_SUCH_NAME = ("AttributeError", "NameError")


def stated(
    predictions: Predictions, observations: Mapping[str, Observation], failed: Mapping[str, Verdict]
) -> Explanation | None:
    """What the answers state by themselves, so that no mistake need be looked for; None when it is nothing."""
    raised = [(one, one.outcome.reply) for one in observations.values() if isinstance(one.outcome.reply, Raised)]
    unfilled = [one for one, reply in raised if reply.is_unfilled]
    if unfilled:
        return _statement(predictions, NOT_FILLED_IN, failed, _place(unfilled))
    misspelt = [one for one, reply in raised if reply.type in _NO_SUCH_NAME and reply.frames]
    if misspelt and len(misspelt) == len(observations):
        return _statement(predictions, NOT_THERE, failed, _place(misspelt))
    elsewhere = [one for one, reply in raised if _is_about_a_device(reply.message)]
    if elsewhere:
        return _statement(predictions, OTHER_DEVICE, failed, _place(elsewhere))
    if len(raised) < len(observations) and all(map(_is_nothing, observations.values())):
        return _statement(predictions, RETURNS_NOTHING, failed)
    return None


def unexplained(
    examination: Examination,
    predictions: Predictions,
    observations: Mapping[str, Observation],
    failed: Mapping[str, Verdict],
) -> Explanation:
    """That a callable is not recognised; that it is random, keeps state, or is right for some sizes, where it is so."""
    unstable = [check for check, verdict in failed.items() if verdict is Verdict.UNSTABLE]
    if unstable:
        return _statement(predictions, DIFFERS, unstable)
    if _is_right_at_first(examination, predictions, observations):
        return replace(_statement(predictions, STATE_KEPT, failed), is_whole=True)
    sizes = deciding_size(
        examination.assignment.callable(predictions.part, predictions.name), predictions, observations
    )
    if sizes:
        return _statement(predictions, ONE_SIZE, failed, sizes)
    return Explanation(part=predictions.part, callable=predictions.name)


def _is_right_at_first(
    examination: Examination, predictions: Predictions, observations: Mapping[str, Observation]
) -> bool:
    """Whether every wrong answer is right when its question is the first that is asked; one of each kind is tried."""
    tried: dict[object, Observation] = {}
    for key, one in observations.items():
        if not one.question.history and not predictions.agrees(predictions.read(one), NOTHING, key, one.dtype):
            tried.setdefault(predictions.kind(key), one)
    for one in tried.values():
        examination.begin_anew()
        own = one.question.to_object(examination.new_handle())
        again = Observation(question=own, outcome=examination.ask(own.call, own.upstream), dtype=own.call.dtype)
        if not predictions.agrees(predictions.read(again), NOTHING, own.key, own.call.dtype):
            return False
    return bool(tried)


def _statement(predictions: Predictions, trait: Trait, checks: Iterable[str], evidence: str = "") -> Explanation:
    return Explanation(
        part=predictions.part,
        callable=predictions.name,
        traits=(trait,),
        shown_by={trait.id: tuple(checks)},
        evidence={trait.id: evidence} if evidence else {},
    )


def _place(observations: Iterable[Observation]) -> str:
    """Where the first of these raised, and what: of visible checks, since students read it. Empty where none is."""
    for raised in (one.outcome.reply for one in observations if one.question.is_visible):
        if isinstance(raised, Raised) and (raised.frames or raised.message):
            line = raised.frames[-1] if raised.frames else None
            where = f"{line.file}, line {line.line}: {line.text.strip()}: " if line else ""
            return f"{where}{raised.type}: {raised.message.partition(chr(10))[0]}"[:300]
    return ""


def _is_nothing(one: Observation) -> bool:
    """Whether a call ended without a value, or with an error that is right; or was not made, only a module."""
    reply = one.outcome.reply
    if isinstance(reply, Raised) or one.question.call.reads:
        return True
    return isinstance(reply, Returned) and bool(reply.tree.values) and all(map(_is_none, reply.tree.values))


def _is_none(node: Node) -> bool:
    return node.type == "NoneType"


def _is_about_a_device(message: str) -> bool:
    return "not compiled with CUDA" in message or "Found no NVIDIA driver" in message
