"""What a student may see: every way out of the staff's report is tried."""

import dataclasses
from datetime import date

import pytest
from sample_report import graded, make_check, make_header, make_part, make_submission, sample_class

from grader.finding import Charge, Diagnosis
from grader.report import Feedback, FeedbackLevel, Flag, Status
from grader.student_view import GRADER_FAILED, level_in_force, student_view
from grader.verdict import Verdict

TODAY = date(2026, 12, 1)
SECRET = "SECRET"

HIDDEN = {
    "id": f"test_{SECRET}.py::test_fill",
    "title": "Very negative scores are kept",
    "description": SECRET,
    "callable": SECRET,
    "message": SECRET,
    "hint": SECRET,
    "output": SECRET,
    "output_cut": True,
    "blocked_by": SECRET,
    "visible": False,
    "duration_s": 1.25,
}


def view_of(submission, level="hint", full_from=None, today=TODAY):
    """Make the view of a submission at a level."""
    return student_view(make_header(), submission, Feedback(level=level, full_from=full_from), today)


def diagnosis(*checks):
    """Build a diagnosis that rests on these checks."""
    return Diagnosis(
        part="single_head",
        callables=("scaled_dot_product_attention",),
        mistakes=("scale-by-d",),
        title="Scores are divided by d",
        explanation="The spread grows with the square root of d.",
        checks=checks,
    )


@pytest.mark.parametrize("level", FeedbackLevel)
@pytest.mark.parametrize("verdict", [Verdict.WRONG_VALUE, Verdict.IMPORT_ERROR, Verdict.GRADER_ERROR])
def test_view_hidden_check_shows_title_verdict_and_points_only(level, verdict):
    """Nothing else of a hidden check is anywhere in the view, at any level."""
    score = None if verdict is Verdict.GRADER_ERROR else 0
    hidden = make_check(**HIDDEN, verdict=verdict, score=score)

    view = view_of(make_submission(checks=[hidden], diagnoses=[diagnosis(hidden.id)]), level)

    assert SECRET not in repr(view)
    assert ("hidden-1", hidden.title, verdict) == (
        view.checks[0].id,
        view.checks[0].title,
        view.checks[0].verdict,
    )
    assert (score, hidden.max_score) == (view.checks[0].score, view.checks[0].max_score)


def test_view_blocked_by_a_hidden_check_points_at_its_public_id():
    """A visible check may wait for a hidden one, but must not tell its id."""
    hidden = make_check(**HIDDEN)
    blocked = make_check(id="visible", verdict=Verdict.BLOCKED, blocked_by=hidden.id, message="")

    view = view_of(make_submission(checks=[hidden, blocked]))

    assert "hidden-1" == view.checks[1].blocked_by


@pytest.mark.parametrize(("blocker", "shown"), [("masked.py", "masked.py"), ("test_x.py::test_elsewhere", None)])
def test_view_blocked_by_something_else_shows_files_only(blocker, shown):
    """The name of a file is the student's own; an unknown id may be a hidden check's."""
    blocked = make_check(verdict=Verdict.BLOCKED, blocked_by=blocker, message="")

    view = view_of(make_submission(checks=[blocked]))

    assert shown == view.checks[0].blocked_by


def test_view_flags_are_not_in_it():
    """What a person should look at is no business of the student."""
    flag = Flag(kind=SECRET, file=SECRET, line=1, detail=SECRET)

    view = view_of(make_submission(flags=[flag]), "full")

    assert SECRET not in repr(view)


def test_view_isolation_digest_and_charges_are_not_in_it():
    """The staff's side of run and part stays with staff."""
    part = make_part(charged=[Charge(mistake=SECRET, price=3)])

    view = view_of(make_submission(parts=[part]), "full")

    assert SECRET not in repr(view)
    assert not {"isolation", "digest", "flags"} & {field.name for field in dataclasses.fields(view)}


def test_view_level_verdict_shows_title_verdict_and_points_only():
    """At level verdict a visible check tells no more than a hidden one, except its id."""
    check = make_check(description=SECRET, callable=SECRET, message=SECRET, hint=SECRET, output=SECRET, output_cut=True)

    view = view_of(make_submission(checks=[check], diagnoses=[diagnosis(check.id)]), "verdict")

    assert SECRET not in repr(view)
    assert (check.title, check.verdict) == (view.checks[0].title, view.checks[0].verdict)
    assert view.seed is None


def test_view_level_hint_shows_message_hint_and_output_but_no_diagnosis():
    """Before the deadline a student is told what is wrong, not which mistake it is."""
    check = make_check(message="m", hint="h", output="o", output_cut=True)

    view = view_of(make_submission(checks=[check], diagnoses=[diagnosis(check.id)]), "hint")

    shown = view.checks[0]
    assert ("m", "h", "o", True) == (shown.message, shown.hint, shown.output, shown.output_cut)
    assert () == view.diagnoses


def test_view_level_full_explains_mistakes_by_visible_checks():
    """A diagnosis is told with the visible checks it explains, and no others."""
    visible, hidden = make_check(id="v"), make_check(**HIDDEN)

    view = view_of(make_submission(checks=[visible, hidden], diagnoses=[diagnosis("v", hidden.id)]), "full")

    assert [("v",)] == [one.checks for one in view.diagnoses]
    assert SECRET not in repr(view)


def test_view_level_full_leaves_out_mistakes_seen_by_hidden_checks_only():
    """Explaining what only a hidden check found would tell what it asks."""
    visible, hidden = make_check(id="v"), make_check(**HIDDEN)

    view = view_of(make_submission(checks=[visible, hidden], diagnoses=[diagnosis(hidden.id)]), "full")

    assert () == view.diagnoses


@pytest.mark.parametrize(
    ("level", "full_from", "in_force"),
    [
        ("full", None, "full"),
        ("full", date(2026, 11, 30), "full"),
        ("full", TODAY, "full"),
        ("full", date(2026, 12, 2), "hint"),
        ("hint", date(2026, 11, 30), "hint"),
        ("verdict", date(2026, 11, 30), "verdict"),
    ],
)
def test_level_in_force_full_waits_for_its_day(level, full_from, in_force):
    """Full is hint until its day; a date raises no other level."""
    assert in_force == level_in_force(Feedback(level=level, full_from=full_from), TODAY)


def test_view_check_grader_error_does_not_quote_the_grader():
    """A fault of the grader may quote its own files, so a fixed sentence stands for it."""
    check = make_check(verdict=Verdict.GRADER_ERROR, score=None, message=SECRET, hint=SECRET, output=SECRET)

    view = view_of(make_submission(checks=[check]), "full")

    assert SECRET not in repr(view)
    assert GRADER_FAILED == view.checks[0].message


def test_view_submission_grader_error_does_not_quote_the_grader():
    """The same holds for the reason, and the score stays null."""
    submission = make_submission(status=Status.GRADER_ERROR, score=None, reason=f"Traceback: {SECRET}")

    view = view_of(submission)

    assert (None, GRADER_FAILED) == (view.score, view.reason)
    assert SECRET not in repr(view)


def test_view_ungradable_tells_reason_and_notes():
    """What to do about a folder that cannot be graded is for its student to read."""
    submission = make_submission(status=Status.UNGRADABLE, score=0, reason="no stub file found", notes=["read late"])

    view = view_of(submission, "verdict")

    assert ("no stub file found", ("read late",)) == (view.reason, view.notes)


def test_view_holds_one_student_only():
    """A view of one submission names no other."""
    report = sample_class()
    others = {submission.id for submission in report.submissions} - {"mei"}
    mei = next(submission for submission in report.submissions if submission.id == "mei")

    view = student_view(report, mei, Feedback(level="full"), TODAY)

    assert not any(f"'{other}'" in repr(view) for other in others)


def test_view_hidden_checks_are_numbered_in_order():
    """The public ids are the same for every student of an assignment."""
    ada, bela = (view_of(graded(name, lambda check: {})) for name in ("ada", "bela"))

    hidden = [check.id for check in ada.checks if not check.visible]
    assert [f"hidden-{number}" for number in range(1, len(hidden) + 1)] == hidden
    assert [check.id for check in ada.checks] == [check.id for check in bela.checks]
