"""`grade verify`: all claims of one assignment, tried and printed."""

import fnmatch
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from grader.assignment import VARIANTS, Assignment, AssignmentError, near
from grader.course import Course
from grader.diagnosis.predict import Made
from grader.diagnosis.traits import NOT_FILLED_IN
from grader.find import Found
from grader.grade import Grading, with_grading
from grader.launch import Zygote, can_fork
from grader.pool import grade_all
from grader.report import Submission
from grader.report_json import to_json
from grader.verdict import Verdict
from grader.verification.axes import about_axes
from grader.verification.claims import (
    PAIRS_NAMED,
    Claim,
    EditedReferences,
    about_checks,
    about_harmless,
    about_mistakes,
    about_sets,
    random_sets,
    singles,
)
from grader.verification.examples import FOLDER as EXAMPLES
from grader.verification.examples import Expected, complaints, examples_of
from grader.verification.trials import attempt

#: Pairs of mistakes that are tried.
PAIRS = 200
#: Mistakes that go through workers.
SAMPLE = 8
_OTHER_SEED = 1_000_003
#: Before the name of what is handed in a second time.
_AGAIN = "again/"


def verify(
    course: Course,
    assignment: Assignment,
    seed: int,
    tell: Callable[[Claim], None],
    say: Callable[[str], None],
    only: str | None = None,
) -> None:
    """Try every claim. `tell` is called with each as it is settled, `say` with what is being done.

    `only`: a glob; then nothing but the mistakes whose ids match is tried, one at a time.

    Raises:
        AssignmentError: the checks, the reference or the mistakes do not fit together, or the reference loses a point.
    """
    processes = os.cpu_count() or 1
    is_handing_in = only is None and can_fork()
    with Zygote(processes, assignment.rules) if is_handing_in else nullcontext() as zygote:

        def try_all(grading: Grading) -> None:
            claims = _about(course, grading, processes, only) if only else _all(course, grading, zygote, processes, say)
            for claim in claims:
                tell(claim)

        with_grading(course, assignment, seed, try_all)


def _about(course: Course, grading: Grading, processes: int, only: str) -> Iterator[Claim]:
    """The claims about some mistakes."""
    chosen = [
        made for made in singles(grading.reference.mistakes) if any(fnmatch.fnmatchcase(one, only) for one in made)
    ]
    if not chosen:
        raise AssignmentError(
            f"{course.reference}: no mistake is called {only!r}{near(only, grading.reference.mistakes.by_id)}"
        )
    references = EditedReferences(grading, grading.with_seed(course.reference, _OTHER_SEED), processes)
    yield from about_mistakes(grading.reference.mistakes, list(references.attempts(chosen)))


def _all(
    course: Course, grading: Grading, zygote: Zygote | None, processes: int, say: Callable[[str], None]
) -> Iterator[Claim]:
    yield Claim(title="the reference scores full marks", tried=1, held=1)  # the rehearsal has shown it
    yield about_axes(grading)
    say("handing in the stub, the variants and a sample of the mistakes, twice, and the examples")
    yield from _handed_in(course, grading, zygote)
    references = EditedReferences(grading, grading.with_seed(course.reference, _OTHER_SEED), processes)
    say(f"making {len(grading.reference.mistakes)} mistakes, one at a time")
    judged = list(references.attempts(singles(grading.reference.mistakes)))
    yield from about_mistakes(grading.reference.mistakes, judged)
    yield from about_harmless(grading)
    yield about_checks(judged, [spec.id for spec in grading.checking.specs])
    chosen = random_sets(grading, 2, PAIRS)
    say(f"making {len(chosen)} pairs of mistakes")
    pairs = list(references.attempts(chosen))
    yield from about_sets("pairs of mistakes", pairs, PAIRS_NAMED)


def _handed_in(course: Course, grading: Grading, zygote: Zygote | None) -> Iterator[Claim]:
    """What goes through workers, as students' files do."""
    assignment = grading.assignment
    variants = sorted((course.reference / VARIANTS / assignment.name).glob("*/"))
    examples = examples_of(course, assignment.name)
    sample = singles(grading.reference.mistakes)[:: max(1, len(grading.reference.mistakes) // SAMPLE)]
    with tempfile.TemporaryDirectory(prefix="grade-verify-") as folder:
        found = [Found(id="stub", path=assignment.folder / "stub")]
        found += [Found(id=f"variants/{one.name}", path=one) for one in variants]
        found += [_write(Path(folder), grading, made) for made in sample]
        again = [replace(one, id=f"{_AGAIN}{one.id}") for one in found]
        # All at once: what starts the workers is warm once, and ends with the last submission.
        handed_in = [*found, *again, *(one for one, _ in examples.values())]
        graded = {one.id: one for one in grade_all(grading, handed_in, zygote)}
    yield from _about_stub(graded["stub"], assignment)
    yield _about_variants([graded[f"variants/{one.name}"] for one in variants], assignment)
    yield _about_examples([(name, wanted, graded[one.id]) for name, (one, wanted) in examples.items()], assignment)
    differing = [one.id for one in found if _as_said(graded[one.id]) != _as_said(graded[f"{_AGAIN}{one.id}"])]
    yield Claim(
        title="two runs agree byte for byte",
        tried=len(found),
        held=len(found) - len(differing),
        complaints=tuple(f"{name} is graded in two ways" for name in differing),
    )
    yield _as_in_process(grading, sample, graded)


def _about_variants(right: Sequence[Submission], assignment: Assignment) -> Claim:
    lost = [f"{one.id} loses {_lost(one)}" for one in right if one.score != one.max_score or one.diagnoses]
    return Claim(
        title="right code of any style loses no point and gets no name",
        tried=len(right),
        held=len(right) - len(lost),
        complaints=tuple(lost),
        detail="" if right else f"write some into reference/{VARIANTS}/{assignment.name}/STYLE/",
        is_optional=True,
    )


def _about_examples(examples: Sequence[tuple[str, Expected, Submission]], assignment: Assignment) -> Claim:
    wrong = {name: list(complaints(name, expected, graded)) for name, expected, graded in examples}
    return Claim(
        title="every example gets what it states",
        tried=len(examples),
        held=len(examples) - sum(map(bool, wrong.values())),
        complaints=tuple(complaint for one in wrong.values() for complaint in one),
        detail="" if examples else f"write some into {EXAMPLES}/{assignment.name}/ID/",
        is_optional=True,
    )


def _about_stub(stub: Submission, assignment: Assignment) -> Iterator[Claim]:
    callables = [name for part in assignment.parts for name in part.callables]
    complaint = [] if not stub.score else [f"the stub scores {stub.score}"]
    yield Claim(title="the stub scores nothing", tried=1, held=1 - len(complaint), complaints=tuple(complaint))
    seen = {name for one in stub.diagnoses if NOT_FILLED_IN.id in one.mistakes for name in one.callables}
    unseen = [name for name in callables if name not in seen]
    yield Claim(
        title="every callable of the stub is seen to be unfilled",
        tried=len(callables),
        held=len(callables) - len(unseen),
        complaints=tuple(f"{name} is not: {_first_said(stub, name)}" for name in unseen),
    )


def _first_said(stub: Submission, callable: str) -> str:
    """The first verdict of a callable, in words; or why there is none at all."""
    checks = [check for check in stub.checks if check.callable == callable]
    if not checks:
        return stub.reason or "no check asks for it"
    failed = [check for check in checks if check.verdict is not Verdict.PASSED] or checks
    first = min(failed, key=lambda check: (check.verdict is Verdict.BLOCKED, check.verdict.rank))
    return (
        f"{first.verdict.label}, wanted {Verdict.NOT_IMPLEMENTED.label}. {first.message.partition(chr(10))[0]}".strip()
    )


def _as_in_process(grading: Grading, sample: Sequence[Made], graded: Mapping[str, Submission]) -> Claim:
    """That a worker's answers are those the edited reference gives in this process."""
    complaints = []
    for made in sample:
        trial = attempt(grading, made)
        submission = graded[_id(made)]
        failed = {check.id for check in submission.checks if check.verdict is not Verdict.PASSED}
        named = {one.mistakes for one in submission.diagnoses}
        if failed != set(trial.failed) or named != set(trial.named):
            complaints.append(f"{_id(made)} fails {sorted(failed)} and is named {sorted(named)} in a worker")
    return Claim(
        title="a sample of the mistakes, handed in, fails and is named the same",
        tried=len(sample),
        held=len(sample) - len(complaints),
        complaints=tuple(complaints),
    )


def _write(folder: Path, grading: Grading, made: Made) -> Found:
    """A submission that is the edited reference, in the files that students hand in."""
    assert grading.diagnostics is not None
    path = folder / _id(made)
    path.mkdir(parents=True)
    for part in grading.assignment.parts:
        modules = [callable.reference.partition(":")[0] for callable in part.callables.values()]
        (path / part.file).write_text(grading.reference.edited.program(modules, made), encoding="utf-8")
    return Found(id=_id(made), path=path)


def _id(made: Made) -> str:
    return f"mistakes/{'-with-'.join(sorted(made))}"


def _lost(submission: Submission) -> str:
    failed = [check.id for check in submission.checks if check.verdict is not Verdict.PASSED]
    return f"{', '.join(failed)} ({submission.score} of {submission.max_score})"


def _as_said(submission: Submission) -> str:
    """What is said of it, without times, and without the name it was handed in by."""
    checks = tuple(check.model_copy(update={"duration_s": 0.0}) for check in submission.checks)
    return to_json(submission.model_copy(update={"checks": checks, "id": submission.id.removeprefix(_AGAIN)}))
