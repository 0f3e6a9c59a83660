"""What an assignment must hold, each claim tried and counted."""

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from grader.diagnosis.edited import Edited
from grader.diagnosis.explanation import Explanation
from grader.diagnosis.mistakes import Mistakes
from grader.diagnosis.predict import Made
from grader.grade import Grading
from grader.verification.forked import shared_out
from grader.verification.trials import Judged, Trial, are_told_apart, attempt, judge

#: Share of the pairs that must be named as what they are.
PAIRS_NAMED = 0.95
#: Seed of the choice of pairs.
_CHOICE = 2017


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One thing an assignment must hold, and whether it does."""

    title: str
    tried: int
    held: int
    #: Share of those tried that must hold.
    wanted: float = 1.0
    #: What did not hold, a line each.
    complaints: tuple[str, ...] = ()
    #: Counts worth knowing besides; or where to put what could be tried, when there was nothing.
    detail: str = ""
    #: Whether there may be nothing to try.
    is_optional: bool = False

    @property
    def holds(self) -> bool:
        """Whether enough did, and there was something to try where there must be."""
        return (self.tried > 0 or self.is_optional) and self.held >= self.wanted * self.tried


class EditedReferences:
    """Trials of mistakes and of sets of them, shared out among processes."""

    def __init__(self, grading: Grading, other: Grading, processes: int) -> None:
        """`other`: the same assignment with inputs of another seed, to tell apart what only these inputs do not."""
        self._grading = grading
        self._other = other
        self._processes = processes
        self.mistakes = grading.reference.mistakes

    def attempts(self, sets: Sequence[Made]) -> Iterator[Judged]:
        """Grade each set and judge what was found."""
        return shared_out(sets, self._attempt, self._processes)

    def _attempt(self, made: Made) -> Judged:
        return judge(attempt(self._grading, made), self.mistakes, self.is_equal)

    def is_equal(self, made: Made, explained: Explanation) -> bool:
        """Whether inputs of another seed are answered alike too."""
        diagnostics = self._other.diagnostics
        assert diagnostics is not None
        predictions = diagnostics.predictions(explained.part, explained.callable)
        named = frozenset(slot[0] for slot in explained.mistakes)
        return not are_told_apart([predictions], made, named)


def about_mistakes(mistakes: Mistakes, judged: Sequence[Judged]) -> Iterator[Claim]:
    """That each mistake loses points and is named."""
    free = [one.trial for one in judged if not one.trial.lost]
    yield _claim("every mistake loses points", len(judged), [f"{_text(one.made)} loses none" for one in free])
    misnamed = [_complaint(one) for one in judged if one.word != "right"]
    yield _claim("every mistake is named as itself, or as one declared to be like it", len(judged), misnamed)
    open_ = list(_undeclared(mistakes, [one.trial for one in judged]))
    alternatives = sum(len(slot) > 1 for one in judged for slot in one.trial.named)
    yield _claim("mistakes that are named together are declared to be alike", alternatives + len(open_) or 1, open_)


def about_harmless(grading: Grading) -> Iterator[Claim]:
    """That what is declared to change no answer here loses nothing, where anything is."""
    reached, known = grading.reference.reached, grading.reference.mistakes
    harmless = [made for made in singles(reached) if not made & known.by_id.keys()]
    if harmless:
        edited = Edited(reached)
        lost = [(made, attempt(grading, made, edited).lost) for made in harmless]
        complaints = [f"{_text(made)} loses {points}" for made, points in lost if points]
        yield _claim("mistakes that are declared harmless here lose nothing", len(harmless), complaints)


def about_checks(judged: Sequence[Judged], checks: Sequence[str]) -> Claim:
    """That each check is failed by some mistake."""
    failed = {check for one in judged for check in one.trial.failed}
    idle = [f"{check}: no mistake fails it" for check in checks if check not in failed]
    return _claim("every check is failed by some mistake", len(checks), idle)


def about_sets(title: str, judged: Sequence[Judged], wanted: float) -> Iterator[Claim]:
    """That sets of mistakes are named as such, and never by a wrong name. Of a few, one may be unnamed all the same."""
    counts = Counter(one.word for one in judged)
    named = counts["right"] + counts["equal"]
    detail = ", ".join(f"{counts[word]} {word}" for word in ("right", "equal", "unnamed", "wrong"))
    complaints = tuple(_complaint(one) for one in judged if one.word in ("unnamed", "wrong"))
    yield Claim(
        title=f"{title} are named",
        tried=len(judged),
        held=named,
        wanted=min(wanted, 1 - 1 / max(len(judged), 2)),
        complaints=complaints,
        detail=detail,
        is_optional=True,
    )
    yield Claim(
        title=f"{title} get no wrong name", tried=len(judged), held=len(judged) - counts["wrong"], is_optional=True
    )


def singles(mistakes: Mistakes) -> list[Made]:
    """Each mistake alone."""
    return [frozenset((one.id,)) for one in mistakes]


def random_sets(grading: Grading, size: int, count: int) -> list[Made]:
    """Sets of mistakes that can be made together and whose answers can name them; the same in every run."""
    assert grading.diagnostics is not None
    ids = [one.id for one in grading.reference.mistakes if one.known_as is None]
    if math.comb(len(ids), size) <= count:
        return [made for made in map(frozenset, itertools.combinations(ids, size)) if _can_be_named(grading, made)]
    choice = random.Random(_CHOICE + size)
    chosen: dict[Made, None] = {}
    for _ in range(1000 * count):
        made = frozenset(choice.sample(ids, size))
        if len(chosen) == count:
            break
        if _can_be_named(grading, made):
            chosen[made] = None
    return list(chosen)


def _can_be_named(grading: Grading, made: Made) -> bool:
    assert grading.diagnostics is not None
    return grading.reference.edited.are_compatible(made) and not _has_alike(grading.reference.mistakes, made)


def _has_alike(mistakes: Mistakes, made: Made) -> bool:
    return any(
        one in group.mistakes and other in group.mistakes
        for one, other in itertools.combinations(made, 2)
        for group in mistakes.alike
    )


def _undeclared(mistakes: Mistakes, trials: Iterable[Trial]) -> Iterator[str]:
    """Mistakes that a callable's answers do not tell apart, though nobody says that nothing could."""
    for trial in trials:
        for one in trial.explained:
            for slot in one.mistakes:
                for other in slot[1:]:
                    if not mistakes.are_alike(slot[0], other, one.callable):
                        yield f"{one.callable}: no question tells {slot[0]} from {other}"


def _claim(title: str, tried: int, complaints: Sequence[str]) -> Claim:
    unique = tuple(dict.fromkeys(complaints))
    return Claim(title=title, tried=tried, held=max(tried - len(unique), 0), complaints=unique)


def _complaint(judged: Judged) -> str:
    trial = judged.trial
    named = " and ".join(" or ".join(slot) for slot in trial.named) or "nothing"
    unknown = [one.callable for one in trial.explained if not one.is_whole]
    tail = f"; not recognised: {', '.join(unknown)}" if unknown else ""
    return f"{_text(trial.made)} is named {named}{tail}"


def _text(made: Made) -> str:
    return " with ".join(sorted(made))
