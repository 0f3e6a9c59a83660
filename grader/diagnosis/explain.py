"""Explaining one callable: which mistakes and traits account for everything it answered.

What a trait accounts for is set aside, one kind at a time and only when it is there: answers to questions in the usual
dtype, inputs that were changed, gradients that are missing, later calls of one module. The rest is for `search`.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.diagnosis.predict import NOTHING, Made, Predictions
from grader.diagnosis.said import Kind, Said
from grader.diagnosis.search import Budget, Search, Seen
from grader.diagnosis.traits import ERROR_MISSING, FLOAT32_INSIDE, GRADIENT_LOST, INPUTS_CHANGED, STATE_KEPT, Trait
from grader.outcome import Outcome, Raised, Returned
from grader.question import Observation

#: Whether the student's code goes wrong in the same operation as the reference with these mistakes, on one question.
Confirm = Callable[[Observation, Made], bool]

#: Sets that are looked into: where more explain everything, what they say of is not in the answers.
_MOST_SETS = 12
#: Calls that are looked into for one mistake that shows in failures only.
_CONFIRMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What accounts for the answers: sets of mistakes, each of them alone enough, and traits beside them."""

    sets: tuple[Made, ...] = ()
    traits: tuple[Trait, ...] = ()
    #: Questions in which each trait shows, by its id.
    shows: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)


def account_for(
    predictions: Predictions,
    observations: Mapping[str, Observation],
    budget: Budget,
    confirm: Confirm,
    suspects: Sequence[Sequence[Made]] = (),
) -> Account | None:
    """What accounts for everything a callable answered; None when nothing known does.

    Args:
        observations: by the question's key, every question about the callable.
        suspects: sets found in other callables of the submission, which its code may share; those of one together.
    """
    said = {key: predictions.read(one) for key, one in observations.items()}
    if any(one.kind is Kind.OTHER for one in said.values()):
        return None
    ways = list(_ways(said, predictions, observations))
    if len(ways) > 1 and ways[-1].is_right:  # but for what traits account for: sets are not worth a long search
        budget = Budget(0)
    for set_aside in ways:
        found = set_aside.account(budget, confirm, suspects)
        if found:
            return found
    return None


def account_where_draws_differ(
    predictions: Predictions,
    observations: Mapping[str, Observation],
    budget: Budget,
    confirm: Confirm,
    suspects: Sequence[Sequence[Made]] = (),
) -> Account | None:
    """The same where some answers are left to luck, which right code may try in another way.

    What was drawn is looked at where one mistake explains it, or one more beside those that explain all else.
    """
    settled = {key: one for key, one in observations.items() if not one.question.call.is_random}
    if len(settled) == len(observations):
        return account_for(predictions, observations, budget, confirm, suspects)
    whole = account_for(predictions, observations, Budget(0), confirm, suspects)
    if whole and not whole.traits:  # else two mistakes may account for what one of them and a trait do
        return whole
    found = account_for(predictions, settled, budget, confirm, suspects)
    if found is None or not found.sets:
        return whole or found
    beside = Budget(2 * len(predictions.candidates))
    return account_for(predictions, observations, beside, confirm, [*suspects, found.sets]) or whole or found


def _ways(
    said: Mapping[str, Said], predictions: Predictions, observations: Mapping[str, Observation]
) -> Iterator["_SetAside"]:
    """What may be set aside, the least first."""
    there = frozenset[str]().union(*(_aspects(one, predictions.right[key]) for key, one in said.items()))
    for count in range(len(there) + 1):
        for ignored in itertools.combinations(sorted(there), count):
            yield _SetAside(predictions, observations, said, frozenset(ignored))


class _SetAside:
    """The answers, with some aspects of them left for traits."""

    def __init__(
        self,
        predictions: Predictions,
        observations: Mapping[str, Observation],
        said: Mapping[str, Said],
        ignored: frozenset[str],
    ) -> None:
        self._predictions = predictions
        self._observations = observations
        self._said = {
            key: dataclasses.replace(one, ignored=ignored & _aspects(one, predictions.right[key]))
            for key, one in said.items()
        }
        self._later = {key for key, one in observations.items() if one.question.history}
        self._usual = {key for key, one in observations.items() if one.question.call.dtype == "float32"}

    @property
    def is_right(self) -> bool:
        """Whether all else is as it should be."""
        return self._search(Budget(0)).unexplained(NOTHING) is None

    def account(self, budget: Budget, confirm: Confirm, suspects: Sequence[Sequence[Made]]) -> Account | None:
        search = self._search(budget)
        sets = search.explanations(suspects)
        if not sets and search.unexplained(NOTHING) is not None:
            return None
        sets = [made for made in sets[:_MOST_SETS] if self._is_proved(search, made, confirm, suspects)]
        if not sets and search.unexplained(NOTHING) is not None:
            return None
        fitting = [(made, rest) for made in sets or [NOTHING] if (rest := self._rest(made)) is not None]
        if not fitting:
            return None
        least = min(len(rest) for _, rest in fitting)
        shows = next(rest for _, rest in fitting if len(rest) == least)
        fewest = [made for made, rest in fitting if len(rest) == least and made]
        return Account(
            sets=tuple(fewest),
            traits=tuple(trait for trait in _PRICED if trait.id in shows),
            shows=shows,
        )

    def _search(self, budget: Budget) -> Search:
        """The search over the answers to fresh objects, in the dtype of their inputs."""
        said = {key: one for key, one in self._said.items() if key not in self._later | self._usual}
        return Search(self._predictions, Seen(said=said, dtypes=self._dtypes(said)), budget)

    def _dtypes(self, keys: Iterable[str]) -> dict[str, str]:
        return {key: self._observations[key].dtype for key in keys}

    def _is_proved(self, search: Search, made: Made, confirm: Confirm, suspects: Sequence[Sequence[Made]]) -> bool:
        """Whether each mistake of a set shows in numbers, or in the same operation going wrong in the same way."""
        if any(made in together for together in suspects):  # and so proved where it was found
            return True
        for mistake in made & frozenset(self._predictions.candidates):
            shown = list(search.needs(made, mistake))
            if any(search.is_proved_by(made, mistake, key) for key in shown):
                continue
            if not any(confirm(self._observations[key], made) for key in shown[:_CONFIRMED]):
                return False
        return True

    def _rest(self, made: Made) -> dict[str, frozenset[str]] | None:
        """Questions that traits are to account for, by trait; None when one is left that none does."""
        later, usual = self._later, self._usual
        shows: dict[str, set[str]] = {}
        for key, one in self._said.items():
            observation = self._observations[key]
            if observation.dtype != observation.question.call.dtype:
                shows.setdefault(FLOAT32_INSIDE.id, set()).add(key)
            for trait in self._seen_in(one, self._predictions.whole(made, key)):
                shows.setdefault(trait.id, set()).add(key)
            agrees = self._predictions.agrees(one, made, key, observation.dtype)
            if key in usual and (_returns_another_dtype(observation) or (not agrees and _raises(observation))):
                shows.setdefault(FLOAT32_INSIDE.id, set()).add(key)
            elif not agrees and key in usual:
                return None
            elif not agrees and key in later:
                shows.setdefault(STATE_KEPT.id, set()).add(key)
        return {trait: frozenset(keys) for trait, keys in shows.items()}

    def _seen_in(self, observed: Said, predicted: Said) -> Iterator[Trait]:
        if "changed" in observed.ignored and observed.changed != predicted.changed:
            yield INPUTS_CHANGED
        if "gradients" in observed.ignored:
            yield GRADIENT_LOST
        if "unraised" in observed.ignored:
            yield ERROR_MISSING


_PRICED = (FLOAT32_INSIDE, INPUTS_CHANGED, STATE_KEPT, GRADIENT_LOST, ERROR_MISSING)


def _aspects(observed: Said, right: Said) -> frozenset[str]:
    """What of an answer something else than mistakes could account for."""
    found = {
        "changed": bool(observed.changed),
        "gradients": _has_lost_gradients(observed, right),
        "unraised": right.kind is Kind.RAISED and not observed.raises(right.bases[0]),
    }
    return frozenset(name for name, is_there in found.items() if is_there)


def _has_lost_gradients(observed: Said, right: Said) -> bool:
    """Whether gradients that there should be are missing, or could not be computed."""
    if observed.kind is not Kind.VALUES or right.gradients is None:
        return False
    return observed.is_backward_raised or bool(right.gradients.keys() - (observed.gradients or {}).keys())


def _raises(observation: Observation) -> bool:
    return isinstance(observation.outcome.reply, Raised) or isinstance(observation.outcome.backward, Raised)


def _returns_another_dtype(observation: Observation) -> bool:
    """Whether a floating value is not of its inputs' dtype."""
    floating = {
        str(tensor.dtype).removeprefix("torch.")
        for tensor in observation.question.call.payload.arguments.values()
        if tensor.is_floating_point()
    }
    return bool(floating) and bool(_dtypes_returned(observation.outcome) - floating)


def _dtypes_returned(outcome: Outcome) -> set[str]:
    if not isinstance(outcome.reply, Returned):
        return set()
    return {node.dtype for node in outcome.reply.values if node.kind == "tensor" and "float" in node.dtype}


def slots(sets: Sequence[Made], candidates: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The mistakes of the first set, each with those that can stand in its place, in the order of `candidates`."""
    first = sets[0]
    mistakes = [one for one in candidates if one in first]
    return tuple(
        tuple(one for one in candidates if one == mistake or (one not in first and first - {mistake} | {one} in sets))
        for mistake in mistakes
    )
