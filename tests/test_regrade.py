"""Two reports side by side: who gained, lost, appeared or vanished, and why."""

from decimal import Decimal

import pytest
from sample_findings import make_diagnosis
from sample_report import (
    HOSTILE,
    graded,
    make_check,
    make_header,
    make_part,
    make_report,
    make_submission,
    sample_class,
)

from grader.adjustment import Adjustment
from grader.regrade import compare_reports
from grader.render.changes import changes_csv, comparison_lines
from grader.report import Assignment, Grader, SourceFile, Status
from grader.verdict import Verdict

PASSED = {"verdict": Verdict.PASSED, "score": 2, "message": ""}


def compare(old, new, **fields):
    """Compare two runs, given by their submissions; `fields` are of the later run's header."""
    return compare_reports(make_report(*old), make_report(*new, **fields))


def text_of(comparison, most=None):
    """What a terminal shows."""
    return "\n".join(comparison_lines(comparison, most))


def error(id="ada"):
    """A submission in which the grader failed."""
    return make_submission(id=id, status=Status.GRADER_ERROR, score=None, reason="died", parts=(), checks=())


# --- the class --------------------------------------------------------------------------------------------------


def test_compare_equal_reports_are_equal():
    """A whole class, with every kind of outcome."""
    comparison = compare_reports(sample_class(), sample_class())

    assert comparison.is_equal
    assert (20, 0, 0, 20, 0) == (
        comparison.both,
        comparison.up,
        comparison.down,
        comparison.same,
        comparison.unscored,
    )
    assert text_of(comparison).endswith("Nothing changed for anybody")


def test_compare_counts_who_rose_and_fell():
    """Means are of those who have a final score in both."""
    old = [make_submission(id=name, score=score) for name, score in zip("abcd", (10, 20, 30, 40), strict=True)]
    new = [make_submission(id=name, score=score) for name, score in zip("abce", (15, 20, 24, 90), strict=True)]

    comparison = compare([*old, error("f")], [*new, make_submission(id="f", score=50)])

    assert (4, 1, 1, 1, 1) == (
        comparison.both,
        comparison.up,
        comparison.down,
        comparison.same,
        comparison.unscored,
    )
    assert (Decimal(20), Decimal("19.67")) == (comparison.old_mean, comparison.new_mean)
    assert (1, 1, 1) == (comparison.appeared, comparison.vanished, comparison.status_changes)


def test_compare_students_are_listed_by_what_they_lost():
    """Those without a difference of points come first, because somebody must look."""
    old = [make_submission(id=name, score=50) for name in "abcd"]
    new = [make_submission(id=name, score=score) for name, score in zip("abc", (60, 40, 30), strict=True)]

    assert ["d", "c", "b", "a"] == [one.id for one in compare(old, new).students]


def test_compare_verdicts_are_counted_over_the_class():
    """The most frequent change first."""
    two = make_check(id="t::b", title="B")
    old = [make_submission(id=name, checks=[make_check(), two]) for name in "abc"]
    new = [
        make_submission(id="a", checks=[make_check(**PASSED), make_check(id="t::b", verdict=Verdict.TIMEOUT)]),
        make_submission(id="b", checks=[make_check(**PASSED), two]),
        make_submission(id="c", checks=[make_check(), two]),
    ]

    found = [(one.check, one.old, one.new, one.students) for one in compare(old, new).verdicts]

    assert [
        (make_check().id, Verdict.WRONG_VALUE, Verdict.PASSED, 2),
        ("t::b", Verdict.WRONG_VALUE, Verdict.TIMEOUT, 1),
    ] == found


# --- one student ------------------------------------------------------------------------------------------------


def one_change(old, new):
    """What is another for the only student."""
    (change,) = compare([old], [new]).students
    return change


def test_compare_check_that_passes_now_is_a_change():
    """Verdict and points, of both sides."""
    (check,) = one_change(make_submission(), make_submission(checks=[make_check(**PASSED)])).checks

    assert (Verdict.WRONG_VALUE, Verdict.PASSED, 0, 2) == (
        check.old_verdict,
        check.new_verdict,
        check.old_score,
        check.new_score,
    )


def test_compare_check_with_other_points_for_the_same_verdict_is_a_change():
    """Its points were changed in the assignment."""
    (check,) = one_change(
        make_submission(checks=[make_check(**PASSED)]), make_submission(checks=[make_check(**PASSED | {"score": 1})])
    ).checks

    assert (check.old_verdict, 2, 1) == (check.new_verdict, check.old_score, check.new_score)


@pytest.mark.parametrize(
    "fields",
    [
        {"message": "differs in other numbers"},
        {"duration_s": 1.0},
        {"output": "printed"},
    ],
)
def test_compare_numbers_of_another_seed_are_no_change(fields):
    """Inputs are drawn afresh, and the messages quote them."""
    assert compare([make_submission()], [make_submission(checks=[make_check(**fields)])]).is_equal


def test_compare_other_files_with_the_same_result_are_counted_and_no_change():
    """A student handed in again, and earned the same."""
    again = make_submission(files=[SourceFile(name="single_head.py", sha256="1" * 64)])

    comparison = compare([make_submission()], [again])

    assert (True, 1) == (comparison.is_equal, comparison.resubmitted)


def test_compare_part_with_other_points_is_a_change():
    """A price of a mistake changed, say, and no verdict."""
    (part,) = one_change(make_submission(), make_submission(score=13, parts=[make_part(score=13)])).parts

    assert ("single_head", Decimal("12.50"), Decimal(13)) == (part.name, part.old_score, part.new_score)


def test_compare_mistakes_gained_and_lost():
    """By id; what nobody recognises counts as one."""
    other = make_diagnosis(mistakes=["b"], title="Another")
    change = one_change(
        make_submission(diagnoses=[make_diagnosis()]), make_submission(diagnoses=[other], unrecognised=["f"])
    )

    assert ["scale-by-d"] == [one.id for one in change.mistakes_gone]
    assert ["Another", "f: wrong, but not recognised"] == [one.title for one in change.mistakes_new]


def test_compare_override_that_is_gone_is_a_change():
    """A regrade that forgot what staff decided shows before anything is published."""
    decided = make_submission(
        adjustments=[Adjustment(kind="override", points=5, reason="fair")], final_score=Decimal("17.5")
    )

    change = one_change(decided, make_submission())

    assert (Decimal("-5.00"), 5, None) == (change.gain, change.old.overrides, change.new.overrides)
    assert "overrides 5.00 → none" in text_of(compare([decided], [make_submission()]))


def test_compare_score_where_there_was_none_has_no_gain():
    """A null is not a zero."""
    change = one_change(error(), make_submission())

    assert change.gain is None
    assert "ada                -     12.50            grader error → graded" in text_of(
        compare([error()], [make_submission()])
    )


# --- the runs ---------------------------------------------------------------------------------------------------


def test_compare_differences_of_the_runs_are_stated_first():
    """Seed, versions, digest: the likely reason for everything below."""
    grader = Grader(version="0.1.0", python="3.11.7", torch="2.14.0", isolation="none")
    assignment = make_header().assignment.model_copy(
        update={"digest": "f" * 64, "late": {"due": "2026-11-29T23:59:00+01:00", "percent_per_day": 10}}
    )
    assignment = Assignment(**dict(assignment))

    text = text_of(compare([make_submission()], [make_submission()], seed=8, grader=grader, assignment=assignment))

    assert text.startswith(
        "The runs differ: digest of the assignment 3f1c9ab2d04e, now ffffffffffff; torch 2.13.0, now 2.14.0; seed 7, "
        "now 8; isolation strong, now none; late policy none, now due 2026-11-29 23:59+01:00, grace 0 min, 10 % a day, "
        "floor 0 %, a mark counts 1\n\n1 in both: "
    )


def test_compare_two_assignments_are_warned_of():
    """Somebody named the wrong folder."""
    other = make_header().assignment.model_copy(update={"name": "norms"})

    comparison = compare([make_submission()], [make_submission(id="bob")], assignment=other)

    assert not comparison.is_same_assignment
    assert text_of(comparison).startswith("Warning: these are reports of two assignments")
    assert "No submission is in both; are these reports of one class?" in text_of(comparison)


def test_compare_checks_of_one_report_only_are_named_once():
    """A new check is not a change of every student."""
    new = make_submission(checks=[make_check(), make_check(id="t::new")])

    comparison = compare([make_submission(id=name) for name in "ab"], [new.model_copy(update={"id": i}) for i in "ab"])

    assert ((), ("t::new",), ()) == (comparison.checks_gone, comparison.checks_new, comparison.students)
    assert not comparison.is_equal
    assert "Checks only in NEW: t::new" in text_of(comparison)


# --- words ------------------------------------------------------------------------------------------------------


def test_compare_text_is_a_summary_and_then_each_change():
    """The whole of it, for a class of two."""
    old = [
        make_submission(diagnoses=[make_diagnosis()]),
        make_submission(id="bob"),
        make_submission(id="gone"),
    ]
    mended = make_submission(
        score=14, parts=[make_part(score=14)], checks=[make_check(**PASSED)], files=[], diagnoses=[]
    )

    assert """
2 in both: 1 up, 0 down, 1 same; mean 12.50, now 13.25 (+0.75)
1 only in OLD, 1 with other files

Verdicts that changed, by students
   1  test_single_head.py::test_values: wrong value → passed

submission       old       new    change
gone           12.50         -            vanished
ada            12.50     14.00     +1.50  other files
    single_head: 12.50 → 14.00 points
    test_single_head.py::test_values: wrong value → passed (0.00 → 2.00 points)
    no longer: The scores are divided by d, not by the square root of d""" == text_of(
        compare(old, [mended, make_submission(id="bob")])
    )


def test_compare_text_of_a_large_class_stays_readable():
    """Of a student whose every check changed some are shown, and of four hundred students sixty."""
    right, wrong = graded("x", lambda check: {}), graded("x", lambda check: {"verdict": Verdict.IMPORT_ERROR})
    old, new = ([one.model_copy(update={"id": f"s{number:03}"}) for number in range(400)] for one in (right, wrong))

    lines = text_of(compare(old, new), 60).splitlines()

    assert "... and 340 more with a change: --all lists them, -o FILE writes all of them as CSV" == lines[-1]
    assert 60 == sum(line.startswith("s") and not line.startswith("submission") for line in lines)
    assert len(lines) < 60 * 12
    assert "400 in both: 0 up, 400 down, 0 same; mean 100.00, now 0.00 (-100.00)" == lines[1]


def test_compare_text_has_no_power_over_a_terminal():
    """Ids are chosen by students."""
    old = make_submission(id=HOSTILE, unrecognised=[HOSTILE])

    text = text_of(compare([old], [make_submission(id=HOSTILE, score=1)]))

    assert text.replace("\n", "").isprintable()


def test_compare_csv_has_a_line_for_each_student_and_check():
    """For those who sort and filter."""
    comparison = compare(
        [make_submission(), make_submission(id="=gone")], [make_submission(score=14, checks=[make_check(**PASSED)])]
    )

    assert (
        "id,check,old,new,old_points,new_points\n"
        "'=gone,,graded,,12.50,\n"
        "ada,,graded,graded,12.50,14.00\n"
        "ada,test_single_head.py::test_values,wrong_value,passed,0.00,2.00\n"
    ) == changes_csv(comparison)
