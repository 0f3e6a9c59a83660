"""From explanations to what a report says: one diagnosis a mistake over all callables, and what was not recognised."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from grader.diagnosis.explanation import Explanation
from grader.diagnosis.illustrate import Illustrated
from grader.diagnosis.mistakes import Mistake, Mistakes
from grader.diagnosis.traits import TRAITS, Trait
from grader.finding import Diagnosis, Example, Shapes


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What is known of a submission beside the verdicts of its checks."""

    explained: tuple[Explanation, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = ()
    #: Callables that failed checks, and that nothing known explains whole.
    unrecognised: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    shapes: tuple[Shapes, ...] = ()
    #: Points that each mistake and trait costs, as the course says.
    prices: Mapping[str, Decimal] = field(default_factory=dict)


def findings(mistakes: Mistakes, illustrated: Illustrated) -> Findings:
    """What explanations of a submission's callables come to together."""
    settled = _settled(illustrated.explained)
    entries: dict[str, list[tuple[Explanation, tuple[str, ...]]]] = {}
    for one in settled:
        for slot in one.mistakes:
            entries.setdefault(slot[0], []).append((one, slot))
        for trait in one.traits:
            entries.setdefault(trait.id, []).append((one, (trait.id,)))
    return Findings(
        explained=settled,
        diagnoses=tuple(_diagnosis(mistakes, key, entry) for key, entry in entries.items()),
        unrecognised=tuple(one.callable for one in settled if not one.is_whole and not one.traits),
        examples=illustrated.examples,
        shapes=illustrated.shapes,
        prices=prices_of(mistakes),
    )


def prices_of(mistakes: Mistakes) -> dict[str, Decimal]:
    """What the course says that each mistake costs, and each trait that has a price."""
    prices = {one.id: one.price for one in mistakes}
    return prices | {one.id: one.price for one in TRAITS.values() if one.price is not None}


def _settled(explained: Sequence[Explanation]) -> tuple[Explanation, ...]:
    """Where answers leave several mistakes open, those that another callable has shown are meant there too."""
    named = [set(slot) for one in explained for slot in one.mistakes]
    return tuple(
        replace(
            one,
            mistakes=tuple(_narrowed(slot, named) for slot in one.mistakes),
            shown_by=_renamed(one, named),
        )
        for one in explained
    )


def _narrowed(slot: tuple[str, ...], named: Sequence[set[str]]) -> tuple[str, ...]:
    """The ids of a slot that all other slots which share one with it leave open."""
    left = set(slot)
    for other in named:
        if left & other:
            left &= other
    return tuple(one for one in slot if one in left)


def _renamed(explanation: Explanation, named: Sequence[set[str]]) -> Mapping[str, tuple[str, ...]]:
    """`shown_by`, under the ids that the slots now begin with."""
    names = {slot[0]: _narrowed(slot, named)[0] for slot in explanation.mistakes}
    return {names.get(key, key): checks for key, checks in explanation.shown_by.items()}


def _diagnosis(mistakes: Mistakes, key: str, entry: Sequence[tuple[Explanation, tuple[str, ...]]]) -> Diagnosis:
    first, slot = entry[0]
    about = _named(mistakes, key)
    catalogue = [one for name in slot for one in _named(mistakes, name).catalogue]
    return Diagnosis(
        part=first.part,
        callables=tuple(one.callable for one, _ in entry),
        mistakes=slot,
        alternatives=tuple(_named(mistakes, name).title for name in slot[1:]),
        catalogue=tuple(dict.fromkeys(catalogue)),
        title=about.title,
        hint=about.hint,
        explanation=about.explanation,
        evidence=next((one.evidence[key] for one, _ in entry if key in one.evidence), ""),
        checks=tuple(check for one, _ in entry for check in one.shown_by.get(key, ())),
    )


def _named(mistakes: Mistakes, name: str) -> Mistake | Trait:
    return TRAITS[name] if name in TRAITS else mistakes.by_id[name]
