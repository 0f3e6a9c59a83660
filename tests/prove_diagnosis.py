"""Proof of the diagnosis of an assignment, beyond what `grade verify` proves of it.

    python tests/prove_diagnosis.py [--triples 100] [--left-out 60] [--styled] [--seed 1]

triples     random sets of three mistakes: named as these
left out    each mistake (or as many as are asked for) with its like taken out of the catalogue: not recognised, or a
            true statement, and never a wrong name
styled      mistakes as students of three styles write them (tests/data/styled_mistakes), graded as `grade` does: named
            as the catalogue does; those that it does not have get no name

Prints all counts. Exit code 1 when a name is wrong, a mistake loses no point, or too few are named.
"""

import argparse
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from prove_checks import COURSE, write
from styled_mistakes import STYLES, entries

from grader.diagnosis.mistakes import Mistakes
from grader.diagnosis.predict import Made
from grader.diagnosis.traits import TRAITS
from grader.find import Found
from grader.grade import Grading, with_grading
from grader.launch import Zygote
from grader.pool import grade_all
from grader.report import Submission
from grader.verification.claims import EditedReferences, random_sets
from grader.verification.forked import shared_out
from grader.verification.trials import Judged, attempt, judge

#: Shares that must be named.
TRIPLES_NAMED, STYLED_NAMED = 0.85, 0.90
_OTHER_SEED = 1_000_003


@dataclass(frozen=True, slots=True)
class Finding:
    """A line of the proof, and whether it holds."""

    text: str
    holds: bool
    complaints: tuple[str, ...] = ()


def triples(references: EditedReferences, grading: Grading, count: int) -> Iterator[Judged]:
    """Random sets of three, as `grade verify` tries pairs."""
    return references.attempts(random_sets(grading, 3, count))


def leave_out(references: EditedReferences, grading: Grading, count: int) -> Iterator[Judged]:
    """Mistakes that the catalogue lacks, and their like with them: what is then said of them."""
    ids = [one.id for one in grading.reference.mistakes if one.known_as is None]
    chosen = random.Random(11).sample(ids, min(count, len(ids)))

    def without(one: str) -> Judged:
        assert grading.diagnostics is not None
        lacking = replace(grading, diagnostics=grading.diagnostics.without(_like(grading.reference.mistakes, one)))
        return judge(attempt(lacking, frozenset((one,))), grading.reference.mistakes, references.is_equal)

    return shared_out(chosen, without, _processes())


def _about_triples(judged: Sequence[Judged]) -> Finding:
    counts = Counter(one.word for one in judged)
    named = counts["right"] + counts["equal"]
    return Finding(
        f"triples: {len(judged)} tried, {_listed(counts)}; named {named / len(judged):.1%}, "
        f"wanted {TRIPLES_NAMED:.0%}; wrong names {counts['wrong']}, wanted 0",
        named >= TRIPLES_NAMED * len(judged) and not counts["wrong"],
        tuple(_odd(judged)),
    )


def _about_left_out(judged: Sequence[Judged]) -> Finding:
    words = Counter(_word(one) for one in judged)
    free = [one for one in judged if not one.trial.lost]
    return Finding(
        f"left out: {len(judged)} tried, {_listed(words)}; lose no point {len(free)}, wanted 0; "
        f"wrong names {words['wrong']}, wanted 0",
        not free and not words["wrong"],
        tuple(_odd([one for one in judged if _word(one) == "wrong"])),
    )


def styled(grading: Grading, zygote: Zygote) -> Iterator[Finding]:
    """Mistakes in students' own lines."""
    for style in STYLES:
        written = list(entries(style))
        with tempfile.TemporaryDirectory() as folder:
            found = [
                Found(id=str(number), path=write(Path(folder) / str(number), files))
                for number, (_, _, files) in enumerate(written)
            ]
            graded = {one.id: one for one in grade_all(grading, found, zygote)}
        yield _about_styled(about_style(grading.reference.mistakes, style, written, graded))


@dataclass(frozen=True, slots=True, kw_only=True)
class Styled:
    """What became of the mistakes in one style."""

    style: str
    tried: int
    named: int
    wrong: int
    #: Those that the catalogue lacks, and how many of them got a name.
    unknown: int
    unknown_named: int
    #: Those that lose no point.
    free: int
    complaints: tuple[str, ...]


def about_style(
    mistakes: Mistakes, style: str, written: Sequence[tuple[str, str, dict[str, str]]], graded: dict[str, Submission]
) -> Styled:
    """Count. `graded`: by the number in `written`, as text."""
    named = wrong = free = unknown_named = 0
    complaints = []
    for number, (mistake, title, _) in enumerate(written):
        submission = graded[str(number)]
        free += submission.score == submission.max_score
        slots = [one.mistakes for one in submission.diagnoses]
        unknown = f", not recognised {submission.unrecognised}" if submission.unrecognised else ""
        if not mistake:
            if any(slot[0] in mistakes.by_id for slot in slots):
                unknown_named += 1
                complaints.append(f"{style}: {title!r}, which the catalogue lacks, is named {slots}")
            continue
        meant = [_is_meant(mistakes, one.mistakes, mistake, one.callables) for one in submission.diagnoses]
        is_wrong = not all(is_it or _is_statement(slot[0]) for is_it, slot in zip(meant, slots, strict=True))
        is_named = any(meant) and not is_wrong and not submission.unrecognised
        wrong += is_wrong
        named += is_named
        if not is_named:
            complaints.append(f"{style}: {mistake} ({title}) is named {slots}{unknown}")
    tried = sum(bool(one[0]) for one in written)
    return Styled(
        style=style,
        tried=tried,
        named=named,
        wrong=wrong,
        unknown=len(written) - tried,
        unknown_named=unknown_named,
        free=free,
        complaints=tuple(complaints),
    )


def _about_styled(found: Styled) -> Finding:
    return Finding(
        f"{found.style}: {found.tried} mistakes, named {found.named} ({found.named / found.tried:.1%}, wanted "
        f"{STYLED_NAMED:.0%}), wrong names {found.wrong}; {found.unknown} that the catalogue lacks, named "
        f"{found.unknown_named}; lose no point {found.free}",
        found.named >= STYLED_NAMED * found.tried and not (found.wrong or found.unknown_named or found.free),
        found.complaints,
    )


def _is_statement(name: str) -> bool:
    """Whether a name says what the answers show, and so is true whatever the reason."""
    return name in TRAITS and TRAITS[name].is_statement


def _is_meant(mistakes: Mistakes, slot: Sequence[str], meant: str, callables: Sequence[str]) -> bool:
    if meant not in mistakes.by_id:
        raise SystemExit(f"tests/data/styled_mistakes: {meant!r} is no mistake of the catalogue")
    return any(
        one in (meant, mistakes.by_id[meant].known_as)
        or any(mistakes.are_alike(one, meant, callable) for callable in callables)
        for one in slot
    )


def _like(mistakes: Mistakes, one: str) -> Made:
    """A mistake, and all that are declared to be like it anywhere."""
    return frozenset({one}.union(*(group.mistakes for group in mistakes.alike if one in group.mistakes)))


def _word(judged: Judged) -> str:
    if judged.word == "unnamed" and judged.trial.named:
        return "a true statement"
    return {"unnamed": "not recognised", "equal": "named by what equals it"}.get(judged.word, judged.word)


def _odd(judged: Sequence[Judged]) -> Iterator[str]:
    for one in judged:
        if one.word in ("wrong", "unnamed"):
            yield f"{' with '.join(sorted(one.trial.made))}: {one.word}, {one.trial.named}"


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))


def _processes() -> int:
    return os.cpu_count() or 1


def prove(arguments: argparse.Namespace) -> int:
    """Run what is asked for and print it; the number of findings that do not hold."""
    assignment = COURSE.assignment("attention")
    failed = 0
    with Zygote(_processes(), assignment.rules) as zygote:

        def body(grading: Grading) -> list[Finding]:
            found = []
            for finding in _findings(grading, zygote, arguments):
                print(finding.text, flush=True)
                for complaint in finding.complaints:
                    print(f"    {complaint}", flush=True)
                found.append(finding)
            return found

        failed = sum(not one.holds for one in with_grading(COURSE, assignment, arguments.seed, body))
    print(f"{failed} do not hold" if failed else "everything holds")
    return failed


def _findings(grading: Grading, zygote: Zygote, arguments: argparse.Namespace) -> Iterator[Finding]:
    if arguments.styled:
        yield from styled(grading, zygote)
    references = EditedReferences(grading, grading.with_seed(COURSE.reference, _OTHER_SEED), _processes())
    if arguments.triples:
        yield _about_triples(list(triples(references, grading, arguments.triples)))
    if arguments.left_out:
        yield _about_left_out(list(leave_out(references, grading, arguments.left_out)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triples", type=int, default=0)
    parser.add_argument("--left-out", type=int, default=0)
    parser.add_argument("--styled", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    sys.exit(bool(prove(parser.parse_args())))
