"""Adding up points, and entries without any."""

from decimal import Decimal

import pytest
from sample_course import write_course
from sample_session import check, examined, staged

from grader.outcome import Scanned
from grader.report import Flag, Status
from grader.score import score_submission, ungradable, unscored
from grader.sources import Sources
from grader.verdict import Verdict


@pytest.fixture
def assignment(tmp_path):
    """The tiny assignment: 6 points for mix, 4 for scale."""
    return write_course(tmp_path).assignment("tiny")


def test_score_passed_checks_add_up_by_part_and_in_all(assignment):
    """Nothing is earned for what did not pass, and nothing is lost elsewhere."""
    session = examined(
        check("form", "1.25"),
        check("output", "4.75", Verdict.WRONG_VALUE, message="wrong"),
        check("scale", "4", part="scale"),
    )

    entry = score_submission(assignment, staged(), session)

    assert (Status.GRADED, Decimal("5.25"), Decimal(10), None) == (
        entry.status,
        entry.score,
        entry.max_score,
        entry.reason,
    )
    assert [("mix", Decimal("1.25"), Decimal(6)), ("scale", Decimal(4), Decimal(4))] == [
        (part.name, part.score, part.max_score) for part in entry.parts
    ]
    assert [part.score for part in entry.parts] == [part.score_checks for part in entry.parts]


@pytest.mark.parametrize("verdict", [verdict for verdict in Verdict if verdict is not Verdict.GRADER_ERROR])
def test_score_only_a_pass_earns_points(assignment, verdict):
    """Every verdict but one is worth nothing."""
    entry = score_submission(assignment, staged(), examined(check("form", "6", verdict, message="m")))

    assert (Decimal(6) if verdict is Verdict.PASSED else Decimal(0)) == entry.score


def test_score_many_small_points_add_up_exactly(assignment):
    """A hundred times five cents is five points, not nearly."""
    entry = score_submission(assignment, staged(), examined(*[check(f"c{n}", "0.05") for n in range(100)]))

    assert Decimal(5) == entry.score


def test_score_entry_carries_what_the_check_said(assignment):
    """Message, hint, output and what blocked it; nothing of a hint once passed."""
    session = examined(
        check("form", "2", is_visible=False),
        check("output", "4", Verdict.BLOCKED, message="first", blocked_by="mix.form", output="hi", is_output_cut=True),
    )

    passed, blocked = score_submission(assignment, staged(), session).checks

    assert ("", "", False, "Form") == (passed.message, passed.hint, passed.visible, passed.title)
    assert ("first", "Look here.", "mix.form", "hi", True, 1.0) == (
        blocked.message,
        blocked.hint,
        blocked.blocked_by,
        blocked.output,
        blocked.output_cut,
        blocked.duration_s,
    )


def test_score_checks_come_in_the_order_of_the_parts(assignment):
    """Hidden checks ran last; in the report they stand beside the visible ones of their part."""
    session = examined(check("a", "3"), check("s", "4", part="scale"), check("b", "3", is_visible=False))

    assert ["mix.a", "mix.b", "scale.s"] == [one.id for one in score_submission(assignment, staged(), session).checks]


def test_score_entry_carries_files_and_notes(assignment):
    """What was read, and what was noticed."""
    entry = score_submission(assignment, staged(), examined(check("form", "6")))

    assert (staged().files, staged().notes) == (entry.files, entry.notes)


SCANNED = Scanned(
    findings=({"kind": "dynamic_code", "file": "mix.py", "line": 3, "detail": "eval()"},),
    absent=(
        {"file": "mix.py", "line": 1, "package": "seaborn", "reason": "not installed"},
        {"file": "mix.py", "line": 2, "package": "scipy", "reason": "not allowed"},
    ),
)


@pytest.mark.parametrize("verdict", [Verdict.PASSED, Verdict.GRADER_ERROR])
def test_score_entry_carries_what_the_scan_found(assignment, verdict):
    """Signs become flags, imports that were done without become notes; none costs a point."""
    entry = score_submission(assignment, staged(), examined(check("form", "6", verdict)), SCANNED)

    assert (Flag(kind="dynamic_code", file="mix.py", line=3, detail="eval()"),) == entry.flags
    assert (
        "Mix.py was read as mix.py",
        "mix.py, line 1: seaborn is not installed here; graded without it",
        "mix.py, line 2: scipy is not allowed in this assignment; graded without it",
    ) == entry.notes
    assert entry.score == (6 if verdict is Verdict.PASSED else None)


def test_score_fault_of_the_grader_is_no_zero(assignment):
    """One check that could not be judged leaves the submission without a score; the others are still shown."""
    session = examined(
        check("form", "2"),
        check("output", "4", Verdict.GRADER_ERROR, message="KeyError"),
        check("scale", "4", part="scale"),
    )

    entry = score_submission(assignment, staged(), session)

    assert (Status.GRADER_ERROR, None) == (entry.status, entry.score)
    assert [None, None] == [part.score for part in entry.parts]
    assert [Decimal(2), None, Decimal(4)] == [one.score for one in entry.checks]
    assert (
        "the grader failed in 1 of 3 checks, first in mix.output: KeyError; "
        "this is not the student's fault, and no score is given"
    ) == entry.reason


def test_score_submission_without_its_files_is_ungradable(assignment):
    """Score 0, what was found, and what to do."""
    entry = ungradable(assignment, staged(sources=Sources(texts={})))

    assert (Status.UNGRADABLE, Decimal(0), Decimal(10)) == (entry.status, entry.score, entry.max_score)
    assert [Decimal(0), Decimal(0)] == [part.score for part in entry.parts]
    assert (
        "none of mix.py, scale.py is there; found mix.py. Hand in mix.py, scale.py, in one folder, or one notebook."
    ) == entry.reason  # fmt: skip


def test_score_empty_submission_says_that_nothing_was_found(assignment):
    """No file at all."""
    entry = ungradable(assignment, staged(sources=Sources(texts={}), files=()))

    assert (
        "none of mix.py, scale.py is there; found no Python file. "
        "Hand in mix.py, scale.py, in one folder, or one notebook."
    ) == entry.reason


def test_score_unreadable_files_are_named_with_the_reason(assignment):
    """Files that are there are not called missing."""
    entry = ungradable(
        assignment, staged(sources=Sources(texts={}, unreadable={"mix.py": "it is not UTF-8", "x.py": "odd"}))
    )

    assert (
        "no file could be read (mix.py: it is not UTF-8). Hand in mix.py, scale.py, in one folder, or one notebook."
    ) == entry.reason  # fmt: skip


def test_score_unreadable_file_that_nobody_asked_for_is_not_the_reason(assignment):
    """What is missing is the assignment's own files."""
    entry = ungradable(assignment, staged(sources=Sources(texts={}, unreadable={"x.py": "odd"}), files=()))

    assert entry.reason.startswith("none of mix.py, scale.py is there")


def test_score_entry_of_a_failed_grader_has_null_everywhere(assignment):
    """No file was staged, nothing is known, nobody gets a zero."""
    entry = unscored(assignment, "ann", Status.GRADER_ERROR, "it broke")

    assert ("ann", None, "it broke", ()) == (entry.id, entry.score, entry.reason, entry.files)
    assert [(None, Decimal(6)), (None, Decimal(4))] == [(part.score, part.max_score) for part in entry.parts]
