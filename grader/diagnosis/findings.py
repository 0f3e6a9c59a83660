"""From explanations to what a report says: one diagnosis a mistake over all callables, and what was not recognised."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from grader.diagnosis.explanation import Explanation
from grader.diagnosis.illustrate import Illustrated
from grader.diagnosis.mistakes import Named
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


def findings(mistakes: Mapping[str, Named], illustrated: Illustrated) -> Findings:
    """What explanations of a submission's callables come to together. `mistakes`: those known, by id."""
    explained = settled(illustrated.explained)
    entries: dict[str, list[tuple[Explanation, tuple[str, ...]]]] = {}
    for one in explained:
        for slot in one.mistakes:
            entries.setdefault(slot[0], []).append((one, slot))
        for trait in one.traits:
            entries.setdefault(trait.id, []).append((one, (trait.id,)))
    return Findings(
        explained=explained,
        diagnoses=tuple(_diagnosis(mistakes, key, entry) for key, entry in entries.items()),
        unrecognised=tuple(one.callable for one in explained if not one.is_whole and not one.traits),
        examples=illustrated.examples,
        shapes=illustrated.shapes,
        prices=prices_of(mistakes),
    )


def prices_of(mistakes: Mapping[str, Named]) -> dict[str, Decimal]:
    """What the course says that each mistake costs, and each trait that has a price."""
    priced: tuple[Named | Trait, ...] = (*mistakes.values(), *TRAITS.values())
    return {one.id: one.price for one in priced if one.price is not None}


def settled(explained: Sequence[Explanation]) -> tuple[Explanation, ...]:
    """Where answers leave several mistakes open, those that another callable has shown are meant there too."""
    return tuple(
        _narrowed(one, [set(slot) for other in explained if other is not one for slot in other.mistakes])
        for one in explained
    )


def _narrowed(explanation: Explanation, elsewhere: Iterable[set[str]]) -> Explanation:
    """An explanation with the ids that other callables leave open too; what is certain there comes first.

    Two mistakes of one callable stay two: what one of them settles on is not open to the other.
    """
    slots: list[tuple[str, ...]] = []
    by_certainty = sorted(elsewhere, key=len)
    for slot in explanation.mistakes:
        left = set(slot) - {one for other in slots if len(other) == 1 for one in other} or set(slot)
        for other in by_certainty:
            if left & other:
                left &= other
        slots.append(tuple(one for one in slot if one in left))
    names = {before[0]: after[0] for before, after in zip(explanation.mistakes, slots, strict=True)}
    shown_by = {names.get(key, key): checks for key, checks in explanation.shown_by.items()}
    return replace(explanation, mistakes=tuple(slots), shown_by=shown_by)


def _diagnosis(
    mistakes: Mapping[str, Named], key: str, entry: Sequence[tuple[Explanation, tuple[str, ...]]]
) -> Diagnosis:
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


def _named(mistakes: Mapping[str, Named], name: str) -> Named | Trait:
    return TRAITS[name] if name in TRAITS else mistakes[name]
