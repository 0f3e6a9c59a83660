"""Edited references, graded as if a student had handed them in: trusted code, answering in this process."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal

from grader.diagnosis.edited import Edited
from grader.diagnosis.explanation import Explanation
from grader.diagnosis.findings import settled
from grader.diagnosis.mistakes import Mistakes
from grader.diagnosis.predict import Made, Predictions
from grader.diagnosis.traits import TRAITS
from grader.grade import Grading
from grader.trusted import TrustedRespondent
from grader.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What became of an edited reference."""

    made: Made
    lost: Decimal
    failed: tuple[str, ...]
    explained: tuple[Explanation, ...]

    @property
    def named(self) -> tuple[tuple[str, ...], ...]:
        """The ids a report names it by, alternatives together."""
        mistakes = [slot for one in settled(self.explained) for slot in one.mistakes]
        traits = [(trait.id,) for one in self.explained for trait in one.traits]
        return tuple(dict.fromkeys([*mistakes, *traits]))


def attempt(grading: Grading, made: Made, edited: Edited | None = None) -> Trial:
    """Grade the reference with these mistakes made. `edited`: makes others than those that the assignment knows."""
    assert grading.diagnostics is not None, "only after the rehearsal"
    edited = edited or grading.reference.edited
    respondent = TrustedRespondent(grading.reference.oracle, lambda: edited.modules(made, is_readable=True))
    examined, explained = grading.try_out(respondent)
    results = zip(examined.specs, examined.results, strict=True)
    failed = [spec for spec, result in results if result.verdict is not Verdict.PASSED]
    return Trial(
        made=made,
        lost=sum((spec.points for spec in failed), Decimal(0)),
        failed=tuple(spec.id for spec in failed),
        explained=explained,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Whether what was found is what was made."""

    trial: Trial
    #: right; unnamed: a callable was not recognised, or something true was said of it that names no mistake; equal:
    #: named by other mistakes that no input tells from these; wrong.
    word: str
    #: What was found and was not made.
    strange: tuple[tuple[str, ...], ...] = ()


def judge(trial: Trial, mistakes: Mistakes, is_equal: Callable[[Made, Explanation], bool]) -> Judged:
    """Compare what was found in a trial with what was made.

    Args:
        is_equal: whether other inputs than the run's do not tell an explanation from what was made.
    """
    strange = []
    is_equal_only = is_unnamed = False
    for one in trial.explained:
        odd = [slot for slot in one.mistakes if not _is_meant(slot, trial.made, mistakes, one.callable)]
        traits = [trait for trait in one.traits if not _is_trait_of(trait.id, trial.made, mistakes)]
        odd += [(trait.id,) for trait in traits if not trait.is_statement]
        is_unnamed |= any(trait.is_statement for trait in traits) or not (one.is_whole or one.traits)
        if odd and one.is_whole and not one.traits and is_equal(trial.made, one):
            is_equal_only = True
        else:
            strange += odd
    if strange:
        return Judged(trial=trial, word="wrong", strange=tuple(strange))
    if is_unnamed:
        return Judged(trial=trial, word="unnamed")
    return Judged(trial=trial, word="equal" if is_equal_only else "right")


def _is_meant(slot: Collection[str], made: Made, mistakes: Mistakes, callable: str) -> bool:
    return any(one in made or mistakes.are_alike(one, other, callable) for one in slot for other in made)


def _is_trait_of(trait: str, made: Iterable[str], mistakes: Mistakes) -> bool:
    return any(mistakes.by_id[one].known_as == trait for one in made) and trait in TRAITS


def are_told_apart(predictions: Iterable[Predictions], made: Made, named: Made) -> bool:
    """Whether some question is answered otherwise with one set of mistakes than with the other."""
    return any(not one.agrees(one.whole(made, key), named, key) for one in predictions for key in one.questions)
