"""The smallest sets of mistakes that explain everything a callable answered.

A set explains an answer when the reference with those mistakes made gives the same. Single mistakes are tried on one
question after the other. Sets of two and three are searched from the telling questions on, those that few mistakes
touch: only mistakes that touch a question which is not explained yet are added, and none that alone would have spoilt
an answer that is right. How many answers are looked at is limited by number, not by time: two runs find the same.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grader.diagnosis.predict import NOTHING, Made, Predictions
from grader.diagnosis.said import Kind, Said, close, same_form, scale

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
        # In the order of the checks, which the dictionary has, until it is known what touches what.
        self._order = list(seen.said)
        self._plausible: frozenset[str] = frozenset(predictions.candidates)

    def explanations(self, suspects: Sequence[Sequence[Made]] = ()) -> list[Made]:
        """All smallest sets that explain everything; none when no set does, or when nothing needs explaining.

        Args:
            suspects: sets that are tried first, found together where the same code was asked before. Those of the
                first such finding that explain everything, each of their mistakes needed, are the answer.

        Returns:
            Sets of equally many mistakes, in the book's order; with them the variation, if one is needed beside them.
        """
        if self.unexplained(NOTHING) is None:
            return []
        for together in suspects:
            found = [made for made in together if self.unexplained(made) is None and self._is_smallest(made)]
            if found:
                return found
        predictions = self._predictions
        for context in predictions.contexts:
            singles = [context | {one} for one in predictions.candidates if predictions.are_compatible(context | {one})]
            found = [made for made in singles if self.unexplained(made) is None]
            if found:
                return found
        if self._budget.left <= 0:
            return []
        self._begin_with_telling_questions()
        known = sorted({one for together in suspects for made in together for one in made}, key=str)
        for size in range(2, MOST_MISTAKES + 1):
            for context in predictions.contexts:
                found = list(self._with_known(known, context, size)) or list(self._extend(context, size))
                if found:
                    return sorted(set(found), key=self._rank)
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
        right = predictions.right[key]
        if right.kind is Kind.RAISED:  # an error that is asked for, and did not come where it was due
            return observed.kind is Kind.VALUES or observed.stage != right.stage
        if observed.kind is Kind.PARAMETERS:
            return True
        if observed.kind is not Kind.VALUES or observed.is_backward_raised:
            return False
        others = predictions.whole(made - {mistake}, key)
        if _is_partly_nan(observed) and not np.isnan(others.numbers).any():  # at the very places where it is foretold
            return True
        if others.kind is not Kind.VALUES or not same_form(observed, others, 1e-9):
            return observed.is_plain or (bool(observed.numbers.size) and not _is_nowhere_finite(observed))
        return _differ_where_finite(observed, others)

    # --- how ------------------------------------------------------------------------------------------------------

    def _agrees(self, made: Made, key: str) -> bool:
        return self._predictions.agrees(self._seen.said[key], made, key, self._seen.dtypes[key])

    def _begin_with_telling_questions(self) -> None:
        """Order the questions by how many mistakes touch them, one of each kind first; rule out what spoils none."""
        predictions = self._predictions
        kinds: dict[object, str] = {}
        for key in self._order:
            kinds.setdefault(predictions.kind(key), key)
        telling = sorted(kinds.values(), key=lambda key: len(predictions.touching(key)))
        self._order = [*telling, *(key for key in self._order if key not in telling)]
        spoilt = {one for key in telling if self._agrees(NOTHING, key) for one in predictions.touching(key)}
        self._plausible = frozenset(predictions.candidates) - spoilt

    def _with_known(self, known: Sequence[str], context: Made, size: int) -> Iterator[Made]:
        """Sets of mistakes that other callables have shown, and one more."""
        candidates = self._predictions.candidates
        for some in itertools.combinations([one for one in known if one in candidates], size - 1):
            start = context | frozenset(some)
            if not self._predictions.are_compatible(start):
                continue
            key = self.unexplained(start)
            for one in candidates:
                made = start | {one}
                if one in start or not self._predictions.are_compatible(made):
                    continue
                if not self._budget.take():
                    return
                if (key is None or self._agrees(made, key)) and self.unexplained(made) is None:
                    yield made

    def _extend(self, made: Made, left: int) -> Iterator[Made]:
        key = self.unexplained(made)
        if key is None:
            yield made
            return
        for count in range(1, left + 1):
            for chosen in self._choices(key, made, count):
                more = made | frozenset(chosen)
                if not self._predictions.are_compatible(more):
                    continue
                if not self._budget.take():
                    return
                if self._agrees(more, key):
                    yield from self._extend(more, left - count)

    def _choices(self, key: str, made: Made, count: int) -> Iterator[tuple[str, ...]]:
        """Mistakes to add so that a question is explained: those that touch it, then also one that does not by itself.

        The latter may in the company of another: a scale that a saturated softmax hides shows without the softmax.
        """
        touching = [one for one in self._predictions.touching(key) if one in self._plausible and one not in made]
        if count == MOST_MISTAKES and len(touching) > _FEW:
            return
        yield from itertools.combinations(touching, count)
        if count == 2 or (count == 1 and made not in self._predictions.contexts):
            others = [one for one in self._predictions.candidates if one in self._plausible - {*touching, *made}]
            for with_touching in itertools.combinations(touching, count - 1):
                yield from ((*with_touching, one) for one in others)

    def _is_smallest(self, made: Made) -> bool:
        return all(self.unexplained(made - {one}) is not None for one in made)

    def _rank(self, made: Made) -> tuple[int, ...]:
        order = self._predictions.candidates
        return tuple(sorted(order.index(one) for one in made if one in order))


def _is_nowhere_finite(observed: Said) -> bool:
    return not bool((abs(observed.numbers) < float("inf")).any())


def _is_partly_nan(observed: Said) -> bool:
    """Whether some numbers are NaN and others are not."""
    is_nan = np.isnan(observed.numbers)
    return bool(is_nan.any()) and not bool(is_nan.all())


def _differ_where_finite(observed: Said, other: Said) -> bool:
    """Whether two answers of one form differ in a number that is finite in the first."""
    pairs = [(observed.numbers, other.numbers)]
    if np.isfinite(observed.numbers).all():
        ours, theirs = observed.gradients or {}, other.gradients or {}
        for name in {**ours, **theirs}:  # one that is missing counts as zero
            nothing = np.zeros_like(ours[name] if name in ours else theirs[name])
            pairs.append((ours.get(name, nothing), theirs.get(name, nothing)))
    return any(
        one.shape == two.shape and bool(((abs(one) < float("inf")) & ~close(one, two, 1e-9 * scale(two))).any())
        for one, two in pairs
    )
