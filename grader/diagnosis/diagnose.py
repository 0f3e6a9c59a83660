"""The diagnosis of one submission: each callable that failed a check is explained, with what the others have shown."""

import copy
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from grader.asking import observe
from grader.assignment import Assignment
from grader.diagnosis import recognise
from grader.diagnosis.confirm import Failures
from grader.diagnosis.explain import Account, account_where_draws_differ, slots
from grader.diagnosis.explanation import Explanation
from grader.diagnosis.predict import Answers, Made, Predictions
from grader.diagnosis.said import are_identical
from grader.diagnosis.search import Budget
from grader.diagnosis.traits import DRAWN_OTHERWISE
from grader.examination import Examination
from grader.examine import Examined
from grader.outcome import Died, Forbidden, Garbled, MissingName, NotAsked, Outcome, Raised, TimedOut
from grader.question import Observation
from grader.verdict import Verdict

#: Answers that the search for one submission may look at.
BUDGET = 5000
#: Seconds the grader itself may compute, undisturbed, to explain and illustrate one submission that uses the budget up.
#: Measured where nothing known explains any callable, and no answer was known from an earlier submission: 9.
LONGEST_S = 20.0
#: Answers that say nothing about how the code computes.
_SILENT = (Died, Forbidden, Garbled, MissingName, NotAsked, TimedOut)


class Diagnostics:
    """What a run knows for diagnosing: the questions, and what the reference answers when mistakes are made in it."""

    def __init__(
        self,
        assignment: Assignment,
        answers_of: Callable[[str, str], Answers],
        rehearsed: Iterable[Observation],
        put_by: Mapping[str, Iterable[str]],
    ) -> None:
        """Nothing is diagnosed yet.

        Args:
            answers_of: by part and callable, what the reference answers when mistakes are made in it.
            rehearsed: every question, with the reference's answer.
            put_by: questions of each check, by its id.
        """
        self._assignment = assignment
        self._answers_of = answers_of
        self._rehearsed: dict[tuple[str, str], list[Observation]] = {}
        for one in rehearsed:
            call = one.question.call
            self._rehearsed.setdefault((call.part, call.name), []).append(one)
        self._put_by = {check: frozenset(keys) for check, keys in put_by.items()}
        self._predictions: dict[tuple[str, str], Predictions] = {}

    @property
    def longest_s(self) -> float:
        """Seconds that one submission may take to explain; nothing to speak of where no mistake is known."""
        callables = [(part.name, name) for part in self._assignment.parts for name in part.callables]
        return LONGEST_S if any(self.predictions(*one).candidates for one in callables) else 0.0

    @property
    def rehearsed(self) -> Iterator[Observation]:
        """Every question of the run, with the reference's answer."""
        return itertools.chain.from_iterable(self._rehearsed.values())

    def predictions(self, part: str, name: str) -> Predictions:
        """What edited references answer to the questions about a callable."""
        if (part, name) not in self._predictions:
            rehearsed = self._rehearsed.get((part, name), [])
            answers = self._answers_of(part, name)
            self._predictions[part, name] = Predictions(self._assignment, answers, part, name, rehearsed)
        return self._predictions[part, name]

    def without(self, mistakes: Collection[str]) -> "Diagnostics":
        """The same, for a book that lacks some mistakes. What is computed is shared."""
        other = copy.copy(self)
        other._predictions = {
            (part.name, name): self.predictions(part.name, name).without(mistakes)
            for part in self._assignment.parts
            for name in part.callables
        }
        return other

    def diagnose(self, examination: Examination, examined: Examined) -> tuple[Explanation, ...]:
        """Explain every callable that answered and failed a check, in the assignment's order."""
        budget = Budget(BUDGET)
        explained: list[Explanation] = []
        suspects: list[tuple[Made, ...]] = []
        for part in self._assignment.parts:
            for name in part.callables:
                failed = _failed(examined, part.name, name)
                one = self._explain(examination, part.name, name, failed, budget, suspects) if failed else None
                if one:
                    explained.append(one)
        return tuple(explained)

    def _explain(
        self,
        examination: Examination,
        part: str,
        name: str,
        failed: Mapping[str, Verdict],
        budget: Budget,
        suspects: list[tuple[Made, ...]],
    ) -> Explanation | None:
        """What explains a callable; None when it gave no answers to explain: the verdicts of its checks say why."""
        predictions = self.predictions(part, name)
        observations = self._observations(examination, predictions)
        if observations is None:
            return None
        stated = recognise.stated(predictions, observations, failed)
        if stated is not None:
            return stated
        if Verdict.UNSTABLE in failed.values() or not predictions.are_for_sets:  # one alone could make it random
            budget = Budget(0)
        confirm = Failures(examination, predictions).are_alike
        account = account_where_draws_differ(predictions, observations, budget, confirm, suspects)
        if account is None:
            return recognise.unexplained(examination, predictions, observations, failed)
        suspects.append(account.sets)
        return self._whole(predictions, account, failed)

    def _observations(self, examination: Examination, predictions: Predictions) -> dict[str, Observation] | None:
        """What came of every question about a callable; those that no check came to are put now.

        None when an answer is missing, or says nothing about how the code computes.
        """
        file = self._assignment.part(predictions.part).file
        if file not in examination.sources.texts:
            return None
        observations = examination.observations
        known = (observations[key] for key in predictions.questions if key in observations)
        if any(_is_silent(one.outcome) for one in known):  # then nothing more is asked: it may hang once more
            return None
        found: dict[str, Observation] = {}
        for key, question in predictions.questions.items():
            if key not in observations:
                observe(examination, question.to_object(examination.new_handle()))
            found[key] = observations[key]
            if _is_silent(found[key].outcome):
                return None
        return found

    def _whole(self, predictions: Predictions, account: Account, failed: Mapping[str, Verdict]) -> Explanation:
        made = slots(account.sets, predictions.candidates) if account.sets else ()
        shown_by = {trait: self._checks(keys, failed) for trait, keys in account.shows.items()}
        for slot in made:
            shown_by[slot[0]] = self._checks(_shown(predictions, account.sets[0], slot[0]), failed)
        left = _not_shown(shown_by, failed)
        for slot in made if left else ():
            slightly = self._checks(_slightly_shown(predictions, account.sets[0], slot[0]), left)
            shown_by[slot[0]] = tuple(check for check in failed if check in {*shown_by[slot[0]], *slightly})
        drawn = tuple(check for check in _not_shown(shown_by, failed) if self._is_left_to_luck(check, predictions))
        if drawn:
            shown_by[DRAWN_OTHERWISE.id] = drawn
        return Explanation(
            part=predictions.part,
            callable=predictions.name,
            mistakes=made,
            traits=(*account.traits, *([DRAWN_OTHERWISE] if drawn else [])),
            # A failed check that nothing named shows in has a cause that is not known.
            is_whole=not _not_shown(shown_by, failed),
            shown_by=shown_by,
        )

    def _is_left_to_luck(self, check: str, predictions: Predictions) -> bool:
        """Whether all that a check asks of the callable is random."""
        asked = self._put_by.get(check, frozenset()) & predictions.questions.keys()
        return bool(asked) and all(predictions.questions[key].call.is_random for key in asked)

    def _checks(self, keys: Iterable[str], failed: Mapping[str, Verdict]) -> tuple[str, ...]:
        """The failed checks that put one of these questions."""
        chosen = set(keys)
        return tuple(check for check in failed if chosen & self._put_by.get(check, frozenset()))


def _failed(examined: Examined, part: str, name: str) -> dict[str, Verdict]:
    """The checks of a callable that failed, by id."""
    return {
        spec.id: result.verdict
        for spec, result in zip(examined.specs, examined.results, strict=True)
        if (spec.part, spec.callable) == (part, name) and result.verdict is not Verdict.PASSED
    }


def _is_silent(outcome: Outcome) -> bool:
    """Whether an answer, or its backward pass, says nothing about how the code computes."""
    return any(
        isinstance(reply, _SILENT)
        or (isinstance(reply, Raised) and (reply.stage == "import" or reply.is_out_of_memory))
        for reply in (outcome.reply, outcome.backward)
    )


def _not_shown(shown_by: Mapping[str, Iterable[str]], failed: Mapping[str, Verdict]) -> dict[str, Verdict]:
    """Failed checks that nothing found shows in; one that waits for another needs no cause of its own."""
    shown = {check for checks in shown_by.values() for check in checks}
    return {
        check: verdict for check, verdict in failed.items() if check not in shown and verdict is not Verdict.BLOCKED
    }


def _shown(predictions: Predictions, made: Made, mistake: str) -> list[str]:
    """The questions whose answers are others without that mistake."""
    others = made - {mistake}
    return [key for key in predictions.questions if not predictions.agrees(predictions.whole(made, key), others, key)]


def _slightly_shown(predictions: Predictions, made: Made, mistake: str) -> list[str]:
    """The questions whose answers are others in any bit: some checks ask for exactly 0."""
    others = made - {mistake}
    return [
        key
        for key in predictions.questions
        if not are_identical(predictions.whole(made, key), predictions.whole(others, key))
    ]
