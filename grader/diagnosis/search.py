"""The smallest sets of mistakes that explain everything a callable answered.

A set explains an answer when the reference with those mistakes made gives the same. Most mistakes leave most questions
alone, and the questions that few of them touch are the telling ones: the search begins there, adds only mistakes that
touch a question that is not explained yet, and goes on to the next such question. Sets of one are tried first, then of
two, then of three. How many answers are looked at is limited by number, not by time, so that two runs find the same.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from grader.diagnosis.predict import NOTHING, Made, Predictions
from grader.diagnosis.said import Kind, Said, close, scale

#: Most mistakes that one callable is searched for.
MOST_MISTAKES = 3
#: Mistakes touching a question up to which it is searched for three at once.
_FEW = 24


@dataclass(slots=True)
class Budget:
    """How many more answers a search may look at."""

    left: int

    def take(self) -> bool:
        """One more; False when there is none left."""
        self.left -= 1
        return self.left >= 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a callable was observed to say, by question, and in which precision."""

    said: Mapping[str, Said]
    dtypes: Mapping[str, str]


class Search:
    """Explains what was observed of one callable."""

    def __init__(self, predictions: Predictions, seen: Seen, budget: Budget) -> None:
        self._predictions = predictions
        self._seen = seen
        self._budget = budget
        # Those that few mistakes touch first; among equals in the order of the checks, which the dictionary has.
        self._order = sorted(seen.said, key=lambda key: len(predictions.touching(key)))

    def explanations(self, suspects: Iterable[Made] = ()) -> list[Made]:
        """All smallest sets that explain everything; none when no set does, or when nothing needs explaining.

        Args:
            suspects: sets that are tried first, found where the same code was asked before; the first that explains
                everything, each of its mistakes needed, is the answer.
        """
        if self.unexplained(NOTHING) is None:
            return []
        for made in suspects:
            if made and self.unexplained(made) is None and self._is_smallest(made):
                return [made]
        for size in range(1, MOST_MISTAKES + 1):
            found = sorted(set(self._extend(NOTHING, size)), key=self._rank)
            if found:
                return found
        return []

    def unexplained(self, made: Made) -> str | None:
        """The first question whose answer the set does not explain."""
        return next((key for key in self._order if not self._agrees(made, key)), None)

    def needs(self, made: Made, mistake: str) -> Iterator[str]:
        """The questions whose answers show that a mistake is one of the set, in the order of the checks."""
        others = made - {mistake}
        return (key for key in self._seen.said if not self._agrees(others, key))

    def is_proved_by(self, made: Made, mistake: str, key: str) -> bool:
        """Whether the answer to a question can only come from that mistake: numbers do, exceptions and NaN do not."""
        observed = self._seen.said[key]
        predictions = self._predictions
        if predictions.right[key].kind is Kind.RAISED:  # an error that is asked for, and did not come
            return observed.kind is Kind.VALUES
        if observed.kind is Kind.PARAMETERS:
            return True
        if observed.kind is not Kind.VALUES or observed.is_backward_raised:
            return False
        others = predictions.whole(made - {mistake}, key)
        if others.kind is not Kind.VALUES or others.form != observed.form:
            return bool(observed.numbers.size) and not _is_nowhere_finite(observed)
        return _differ_where_finite(observed, others)

    # --- how ------------------------------------------------------------------------------------------------------

    def _agrees(self, made: Made, key: str) -> bool:
        return self._predictions.agrees(self._seen.said[key], made, key, self._seen.dtypes[key])

    def _extend(self, made: Made, left: int) -> Iterator[Made]:
        key = self.unexplained(made)
        if key is None:
            yield made
            return
        touching = [one for one in self._predictions.touching(key) if one not in made]
        for count in range(1, left + 1):
            if count == MOST_MISTAKES and len(touching) > _FEW:
                return
            for chosen in itertools.combinations(touching, count):
                more = made | frozenset(chosen)
                if not self._predictions.are_compatible(more):
                    continue
                if not self._budget.take():
                    return
                if self._agrees(more, key):
                    yield from self._extend(more, left - count)

    def _is_smallest(self, made: Made) -> bool:
        return all(self.unexplained(made - {one}) is not None for one in made)

    def _rank(self, made: Made) -> tuple[int, ...]:
        return tuple(sorted(self._predictions.candidates.index(one) for one in made))


def _is_nowhere_finite(observed: Said) -> bool:
    return not bool((abs(observed.numbers) < float("inf")).any())


def _differ_where_finite(observed: Said, other: Said) -> bool:
    """Whether two answers of one form differ in a number that is finite in the first."""
    pairs = [(observed.numbers, other.numbers)]
    for name, gradient in (observed.gradients or {}).items():
        there = (other.gradients or {}).get(name)
        pairs.append((gradient, gradient * 0 if there is None else there))
    for name, there in (other.gradients or {}).items():
        if name not in (observed.gradients or {}):  # one that is missing counts as zero
            pairs.append((there * 0, there))
    return any(
        one.shape == two.shape and bool(((abs(one) < float("inf")) & ~close(one, two, 1e-9 * scale(two))).any())
        for one, two in pairs
    )
