"""Points by mistakes: what a recognised mistake costs, once, instead of all checks it happens to break."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from grader.diagnosis.explanation import Explanation
from grader.finding import Charge


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged:
    """What a callable loses."""

    part: str
    callable: str
    charges: tuple[Charge, ...]

    @property
    def lost(self) -> Decimal:
        """Points of all its charges."""
        return sum((charge.price for charge in self.charges), Decimal(0))


def charge(
    explained: Sequence[Explanation], prices: Mapping[str, Decimal], lost: Mapping[tuple[str, str], Decimal]
) -> tuple[Charged, ...]:
    """Charge each mistake where it is first met; where it is met again it is carried forward.

    Only callables that mistakes explain whole are charged by them, and never more than their checks cost: what is then
    left of a mistake's price is due where it is met again.

    Args:
        explained: in the assignment's order.
        prices: points by mistake.
        lost: points of the failed checks by part and callable.
    """
    met: dict[str, str] = {}
    due = dict(prices)
    charged = []
    for one in explained:
        if not one.is_whole:
            continue
        left = lost[one.part, one.callable]
        charges = []
        for mistake in _names(one):
            price = min(due[mistake], left)
            charges.append(Charge(mistake=mistake, price=price, carried_from=met.get(mistake), callable=one.callable))
            due[mistake] -= price
            left -= price
            met.setdefault(mistake, one.callable)
        charged.append(Charged(part=one.part, callable=one.callable, charges=tuple(charges)))
    return tuple(charged)


def _names(explanation: Explanation) -> tuple[str, ...]:
    return (*(slot[0] for slot in explanation.mistakes), *(trait.id for trait in explanation.traits))
