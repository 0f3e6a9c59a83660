"""Every assignment but `attention`, which has a proof of its own, in a bounded form: `grade verify` tries all of it."""

import os
from argparse import Namespace

import pytest
from prove_checks import COURSE

from grader.assignment import VARIANTS
from grader.find import Found
from grader.grade import with_grading
from grader.launch import Zygote
from grader.pool import grade_all
from grader.verification.axes import about_axes
from grader.verification.claims import EditedReferences, random_sets, singles

#: One in so many of the mistakes, and pairs of them.
SHARE, PAIRS = 16, 2
ASSIGNMENTS = [name for name in COURSE.names if name != "attention"]


@pytest.fixture(scope="module", params=ASSIGNMENTS)
def proof(request):
    """What was found, by what was tried."""
    assignment = COURSE.assignment(request.param)

    def body(grading):
        references = EditedReferences(grading, grading.with_seed(COURSE.reference, 1_000_003), os.cpu_count() or 1)
        styles = sorted((COURSE.reference / VARIANTS / assignment.name).iterdir())
        found = [Found(id=one.name, path=one) for one in (*styles, assignment.folder / "stub")]
        *right, stub = sorted(grade_all(grading, found, zygote), key=lambda one: one.id == "stub")
        return Namespace(
            axes=about_axes(grading),
            singles=list(references.attempts(singles(grading.reference.mistakes)[::SHARE])),
            pairs=list(references.attempts(random_sets(grading, 2, PAIRS))),
            right=right,
            stub=stub,
        )

    with Zygote(min(2, os.cpu_count() or 1), assignment.rules) as zygote:
        return with_grading(COURSE, assignment, 3, body)


def test_assignment_mistakes_lose_points_and_are_named(proof):
    """Each as itself, or as one declared to be like it."""
    assert len(proof.singles) > 5
    assert [] == [one.trial.made for one in proof.singles if one.word != "right" or not one.trial.lost]


def test_assignment_pairs_of_mistakes_get_no_wrong_name(proof):
    """A wrong name is worse than none."""
    assert PAIRS == len(proof.pairs)
    assert [] == [one.trial.made for one in proof.pairs if one.word == "wrong"]


def test_assignment_right_code_of_any_style_gets_full_marks(proof):
    """With inputs of another seed than `grade verify` has."""
    assert len(proof.right) >= 5
    assert {one.id: one.max_score for one in proof.right} == {one.id: one.score for one in proof.right}


def test_assignment_stub_gets_nothing(proof):
    """Nothing that is asked is true of code that is not there."""
    assert 0 == proof.stub.score


def test_assignment_axes_fit_every_call(proof):
    """Messages, examples and shapes rest on them."""
    assert () == proof.axes.complaints
