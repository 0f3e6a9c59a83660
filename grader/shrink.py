"""The smallest example: a failing call made smaller and rounder as long as it fails in the same way.

Greedy and deterministic: of each list of simpler calls, the first that the reference answers and the student still gets
wrong is taken, visibly wrong if the start was. Lists are put together, so that the whole search costs a few ways to the
worker and back. What is left is asked once more of a fresh worker: an example must stand alone.

The start is a call of a visible check; every other call is made here, from nothing but that.
"""

import itertools
import math
from collections.abc import Callable as Function
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import torch

from grader.asking import in_float32, is_dtype_trouble
from grader.batch import make_batches
from grader.call import Call
from grader.examination import Examination
from grader.example import example_of
from grader.finding import Example
from grader.oracle import Expected, OracleError
from grader.outcome import Died, Garbled, NotAsked, Outcome, Returned, TimedOut
from grader.question import Question
from grader.resize import Shape, tiled
from grader.simpler import (
    Trial,
    least_counts,
    one_position,
    rounder,
    smaller,
    smaller_by_axis,
    with_zeros,
    without_options,
    zeroed,
)
from grader.symptom import Found, Refused, Right, Symptom, symptom_of

#: Calls of the student's code for one example. Counted, so that the same submission gets the same example everywhere.
MOST_CALLS = 80
#: A difference that shows in the first decimals.
_VISIBLE = 0.01
#: Calls put together first, and at most: an early one that fails makes the later ones needless.
_TOGETHER, _MOST_TOGETHER = 2, 12
#: After one of these nothing more is asked.
_ENDED = (TimedOut, Died, Garbled, NotAsked)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    trial: Trial
    right: Right


def smallest_example(
    examination: Examination, start: Call, *, most_calls: int = MOST_CALLS, allowed_s: float = math.inf
) -> Example | None:
    """The smallest call found that fails as `start` does, as a report shows it; see `smallest_failure`.

    Returns:
        None also when what was found is too large, or too little wrong, to be seen.
    """
    found = smallest_failure(examination, start, most_calls=most_calls, allowed_s=allowed_s)
    return example_of(examination, found) if found else None


def smallest_failure(
    examination: Examination, start: Call, *, most_calls: int = MOST_CALLS, allowed_s: float = math.inf
) -> Found | None:
    """The smallest call found that fails as `start` does.

    Args:
        start: a failing call of a visible check, as the check put it.
        most_calls: of the student's code.
        allowed_s: seconds of the student's own time; once they are used nothing is asked, and there is no example.
            Not of a clock: a busy machine is to find the same example.

    Returns:
        None when `start`, put alone to a module of its own, does not fail; when its only trouble is the dtype; and
        when the student's code did not come to an end.

    Raises:
        LaunchError: no worker could be started (the grader's fault).
    """
    search = _Search(examination, start, most_calls, allowed_s)
    found = search.begin()
    if found is None:
        return None
    return search.confirm(search.simplify(found))


class _Search:
    """One search: what it has asked so far, and why it may have to end."""

    def __init__(self, examination: Examination, start: Call, most_calls: int, allowed_s: float) -> None:
        self._examination = examination
        self._start = start
        self._about = examination.assignment.callable(start.part, start.name)
        self._calls_left = most_calls
        self._limit_s = examination.used_s + allowed_s
        #: Whether the student's code ran out of time, or ended its process: nothing more is asked.
        self._is_over = False
        #: The right answer to the start, once it is known.
        self._start_right: Right | None = None
        self._start_symptom: Symptom | None = None

    def begin(self) -> Found | None:
        """The start, when it fails in a way that an example can show."""
        upstream = self._examination.oracle.expected(self._start).upstream if self._start.is_with_gradients else None
        candidates = self._answerable([Trial(call=self._start, upstream=upstream)])
        found = next(iter(self._asked(candidates)), None)
        if found is None or found.symptom.kind in ("dtype", "form") or self._is_right_in_float32(found):
            return None
        self._start_right, self._start_symptom = found.right, found.symptom
        if found.symptom.is_of_gradients:
            return found
        call = replace(found.trial.call, wants=())
        return replace(found, trial=Trial(call=call))

    def simplify(self, found: Found) -> Found:
        """Make it simpler in every way, in turn."""
        about, shapes = self._about, self._shapes
        found = self._without_options(found)
        is_apart = found.symptom.kind == "shape"
        for axis in ("batch",) if is_apart else ("batch", "query"):
            found = self._first(found, one_position(found.trial, about, shapes, axis)) or found
        found = self._first(found, least_counts(found.trial)) or found
        sizes = smaller(found.trial, about, shapes, is_apart=is_apart)
        found = self._first(found, sizes) or self._again_and_again(found)
        found = self._first(found, rounder(found.trial)) or found
        return self._with_zeros(found)

    def confirm(self, found: Found) -> Found | None:
        """The same, of a worker that was asked nothing before and draws other random numbers; None when it is not."""
        if self._must_stop:
            return None
        self._examination.begin_anew()
        call = replace(found.trial.call, seed=found.trial.call.seed + 1)
        candidate = _Candidate(trial=replace(found.trial, call=call), right=found.right)
        again = self._found(candidate, self._ask_alone(candidate))
        if again is None or not again.symptom.is_like(found.symptom):
            return None
        is_same = math.isclose(again.symptom.difference, found.symptom.difference, rel_tol=1e-6, abs_tol=1e-9)
        return again if is_same else None

    # --- the ways -------------------------------------------------------------------------------------------------

    def _without_options(self, found: Found) -> Found:
        while True:
            fewer = self._first(found, without_options(found.trial, self._about))
            if fewer is None:
                return found
            found = fewer

    def _again_and_again(self, found: Found) -> Found:
        while True:
            less = self._first(found, smaller_by_axis(found.trial, self._about, self._shapes))
            if less is None:
                return found
            found = less

    def _with_zeros(self, found: Found) -> Found:
        """Zeros wherever one alone leaves it wrong, as many at once as leave it wrong."""
        places = zeroed(found.trial)
        candidates = self._answerable(with_zeros(found.trial, [place]) for place in places)
        if len(candidates) < len(places):
            return found
        tried = self._asked(candidates)
        harmless = [place for place, one in zip(places, tried, strict=False) if self._is_as_good(found, one)]
        several = (with_zeros(found.trial, harmless[:count]) for count in range(len(harmless), 0, -1))
        return self._first(found, several) or found

    # --- asking ---------------------------------------------------------------------------------------------------

    @property
    def _must_stop(self) -> bool:
        return self._is_over or self._examination.used_s >= self._limit_s

    def _first(self, found: Found, trials: Iterable[Trial]) -> Found | None:
        """The first of them that the student still gets wrong, as visibly."""
        waiting, count = iter(trials), _TOGETHER
        while some := list(itertools.islice(waiting, count)):
            count = min(2 * count, _MOST_TOGETHER)
            candidates = self._answerable(some)
            tried = self._asked(candidates)
            for one in tried:
                if self._is_as_good(found, one):
                    return one
            if len(tried) < len(candidates):
                return None
        return None

    def _is_as_good(self, found: Found, tried: Found | None) -> TypeGuard[Found]:
        if tried is None or tried.symptom.has_fewer_heads(found.symptom):
            return False
        if self._start_symptom is None or not tried.symptom.is_like(self._start_symptom):
            return False
        return tried.symptom.difference >= min(_VISIBLE, found.symptom.difference)

    def _answerable(self, trials: Iterable[Trial]) -> list[_Candidate]:
        """Those that the reference answers; where the start must raise, those at which it raises the same."""
        found = ((trial, self._right(trial)) for trial in trials)
        return [_Candidate(trial=trial, right=right) for trial, right in found if right is not None]

    def _right(self, trial: Trial) -> Right | None:
        """The right answer, if it is of the start's kind."""
        try:
            right: Right = self._examination.oracle.answer(trial.call, _fitted(trial.upstream))
        except OracleError as error:
            right = Refused(error=error.raised)
        start = self._start_right
        if isinstance(right, Refused):
            is_alike = right == start if start else bool(right.error)
        else:
            is_alike = not isinstance(start, Refused)
        return right if is_alike else None

    def _asked(self, candidates: Sequence[_Candidate]) -> list[Found | None]:
        """How the student's answers are wrong, None where one is right; fewer than asked when it has to end."""
        outcomes = self._ask(candidates[: self._calls_left])
        return [self._found(candidate, outcome) for candidate, outcome in zip(candidates, outcomes, strict=False)]

    def _ask(self, candidates: Sequence[_Candidate]) -> Sequence[Outcome]:
        if not candidates or self._must_stop:
            return []
        self._calls_left -= len(candidates)
        questions = [
            Question(call=one.trial.call, upstream=_upstream(one.right), is_visible=True) for one in candidates
        ]
        (batch,) = make_batches(questions, iter(self._examination.new_handle, None))
        outcomes = self._examination.ask_together(batch)
        if outcomes is not None:
            return outcomes
        alone = []
        for candidate in candidates:
            if self._must_stop:
                break
            alone.append(self._ask_alone(candidate))
        return alone

    def _ask_alone(self, candidate: _Candidate) -> Outcome:
        call = candidate.trial.call
        build = call.build and replace(call.build, handle=self._examination.new_handle())
        outcome = self._examination.ask(replace(call, build=build), _upstream(candidate.right))
        if any(isinstance(reply, _ENDED) for reply in (outcome.reply, outcome.backward)):
            self._is_over = True
        return outcome

    def _found(self, candidate: _Candidate, outcome: Outcome) -> Found | None:
        symptom = symptom_of(self._examination.assignment, candidate.trial.call, outcome, candidate.right)
        if symptom is None:
            return None
        return Found(trial=candidate.trial, right=candidate.right, outcome=outcome, symptom=symptom)

    def _is_right_in_float32(self, found: Found) -> bool:
        """Whether it raised over its dtype only: checks judge such a call by its answer in float32."""
        if found.symptom.kind != "raised":
            return False
        right = found.right
        if isinstance(right, Expected) and right.upstream is not None:
            right = replace(right, upstream=right.upstream.float())
        call = in_float32(self._examination, found.trial.call)
        outcome = self._ask_alone(_Candidate(trial=Trial(call=call), right=right))
        return isinstance(outcome.reply, Returned) and not is_dtype_trouble(outcome, "float32")

    def _shapes(self, arguments: Mapping[str, Any]) -> Mapping[str, Shape]:
        return self._examination.oracle.parameter_shapes(self._start.part, self._start.name, arguments)


def _fitted(upstream: torch.Tensor | None) -> Function[[torch.Tensor], torch.Tensor] | None:
    return None if upstream is None else lambda output: tiled(upstream, tuple(output.shape)).to(output.dtype)


def _upstream(right: Right) -> torch.Tensor | None:
    return right.upstream if isinstance(right, Expected) else None
