"""The proof of the diagnosis in a bounded form: `grade verify` and prove_diagnosis.py try all of it."""

import os
import tempfile
from argparse import Namespace
from pathlib import Path

import pytest
from prove_checks import COURSE, write
from prove_diagnosis import about_style, leave_out, triples
from styled_mistakes import STYLES, entries

from grader.find import Found
from grader.grade import with_grading
from grader.launch import Zygote
from grader.pool import grade_all
from grader.verification.claims import EditedReferences, random_sets, singles

ASSIGNMENT = COURSE.assignment("attention")
#: One in so many of the mistakes, and of those in students' styles.
SHARE, STYLED_SHARE = 18, 32
#: Each that is left out costs as much as a dozen that are named: everything has to be tried before nothing is said.
PAIRS, TRIPLES, LEFT_OUT = 10, 3, 3


@pytest.fixture(scope="module")
def proof():
    """What was found, by what was tried."""

    def body(grading):
        processes = os.cpu_count() or 1
        other = grading.with_seed(COURSE.reference, 1_000_003)
        references = EditedReferences(grading, other, processes)
        return Namespace(
            singles=list(references.attempts(singles(grading.reference.mistakes)[::SHARE])),
            pairs=list(references.attempts(random_sets(grading, 2, PAIRS))),
            triples=list(triples(references, grading, TRIPLES)),
            left_out=list(leave_out(references, grading, LEFT_OUT)),
            styled={style: _styled(grading, zygote, style) for style in STYLES},
        )

    with Zygote(min(2, os.cpu_count() or 1), ASSIGNMENT.rules) as zygote:
        return with_grading(COURSE, ASSIGNMENT, 1, body)


def _styled(grading, zygote, style):
    written = list(entries(style))[::STYLED_SHARE]
    with tempfile.TemporaryDirectory() as folder:
        places = [write(Path(folder) / str(number), files) for number, (_, _, files) in enumerate(written)]
        found = [Found(id=str(number), path=place) for number, place in enumerate(places)]
        graded = {one.id: one for one in grade_all(grading, found, zygote)}
    return about_style(grading.reference.mistakes, style, written, graded)


def test_proof_single_mistakes_lose_points_and_are_named(proof):
    """Each as itself, or as one declared to be like it."""
    assert len(proof.singles) > 10
    assert [] == [one.trial.made for one in proof.singles if one.word != "right" or not one.trial.lost]


def test_proof_pairs_of_mistakes_are_named(proof):
    """At least 95 of 100, and none by a wrong name."""
    words = [one.word for one in proof.pairs]

    assert PAIRS == len(words)
    assert "wrong" not in words
    assert words.count("unnamed") <= 0.05 * len(words) + 1  # of so few, one more may be among them


def test_proof_triples_of_mistakes_are_named(proof):
    """At least 85 of 100, and none by a wrong name."""
    words = [one.word for one in proof.triples]

    assert TRIPLES == len(words)
    assert "wrong" not in words
    assert words.count("unnamed") <= 0.15 * len(words) + 1


def test_proof_mistakes_that_the_catalogue_lacks_get_no_wrong_name(proof):
    """They lose points, and nothing untrue is said of them."""
    assert LEFT_OUT == len(proof.left_out)
    assert [] == [one.trial.made for one in proof.left_out if one.word == "wrong" or not one.trial.lost]


@pytest.mark.parametrize("style", STYLES)
def test_proof_mistakes_in_a_students_style_get_no_wrong_name(proof, style):
    """They lose points; most are named, and none that the catalogue lacks is."""
    found = proof.styled[style]

    assert found.tried > 2
    assert (0, 0, 0) == (found.wrong, found.unknown_named, found.free)
    assert found.named >= 0.9 * found.tried - 1
