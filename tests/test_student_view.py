"""What a student may see: every way out of the staff's report is tried."""

import dataclasses
from datetime import date
from decimal import Decimal

import pytest
from sample_findings import ATTENTION, make_diagnosis, make_example, make_matrix, make_shapes
from sample_report import graded, make_check, make_header, make_part, make_submission, sample_class

from grader.adjustment import Adjustment
from grader.finding import Charge
from grader.handed_in import HandIn
from grader.report import Feedback, FeedbackLevel, Flag, Status
from grader.student_view import (
    FOUND_BY_HIDDEN_CHECKS,
    GRADER_FAILED,
    GRADER_FAILED_AND_STAFF_DECIDED,
    level_in_force,
    student_view,
)
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
    "measured": [{"name": SECRET, "source": SECRET, "difference": 0.5, "allowed": 1e-5}],
}


def view_of(submission, level="hint", full_from=None, today=TODAY):
    """Make the view of a submission at a level."""
    return student_view(make_header(), submission, Feedback(level=level, full_from=full_from), today)


def diagnosis(*checks, **fields):
    """Build a diagnosis that rests on these checks."""
    return make_diagnosis(checks=checks, **fields)


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


@pytest.mark.parametrize(("level", "seen"), [("verdict", []), ("hint", [2.2e-16]), ("full", [2.2e-16])])
def test_view_differences_from_pytorch_are_shown_with_the_messages(level, seen):
    """A number says how wrong an answer is, as a message does; level verdict says neither."""
    measured = [{"name": "output", "source": "PyTorch", "difference": 2.2e-16, "allowed": 1e-5}]

    view = view_of(make_submission(checks=[make_check(measured=measured)]), level)

    assert seen == [one.difference for one in view.checks[0].measured]


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


def test_view_isolation_and_digest_are_not_in_it():
    """The staff's side of a run stays with staff."""
    view = view_of(make_submission(), "full")

    assert not {"isolation", "digest", "flags"} & {field.name for field in dataclasses.fields(view)}


def test_view_level_verdict_shows_title_verdict_and_points_only():
    """At level verdict a visible check tells no more than a hidden one, except its id."""
    check = make_check(description=SECRET, callable=SECRET, message=SECRET, hint=SECRET, output=SECRET, output_cut=True)

    charged = [Charge(mistake="scale-by-d", price=3)]
    submission = make_submission(
        checks=[check],
        parts=[make_part(charged=charged)],
        diagnoses=[diagnosis(check.id, callables=[SECRET])],
        unrecognised=[SECRET],
        examples=[make_example(callable=SECRET)],
        shapes=[make_shapes(callable=SECRET)],
    )

    view = view_of(submission, "verdict")

    assert SECRET not in repr(view)
    assert ((), (), (), ()) == (view.diagnoses, view.unrecognised, view.examples, view.shapes)
    assert () == view.parts[0].charged
    assert (check.title, check.verdict) == (view.checks[0].title, view.checks[0].verdict)
    assert view.seed is None


def test_view_level_hint_shows_message_hint_and_output():
    """Before the deadline a student is told what is wrong."""
    check = make_check(message="m", hint="h", output="o", output_cut=True)

    view = view_of(make_submission(checks=[check]), "hint")

    shown = view.checks[0]
    assert ("m", "h", "o", True) == (shown.message, shown.hint, shown.output, shown.output_cut)


def test_view_level_hint_names_the_mistake_and_does_not_explain_it():
    """Title, alternatives, hint and evidence point at it; why it is wrong is for after the deadline."""
    one = diagnosis("v", alternatives=["The scores are scaled twice"], evidence="line 24", explanation=SECRET)

    view = view_of(make_submission(checks=[make_check(id="v")], diagnoses=[one]), "hint")

    shown = view.diagnoses[0]
    assert (one.title, one.alternatives, one.hint, "line 24") == (
        shown.title,
        shown.alternatives,
        shown.hint,
        shown.evidence,
    )
    assert "" == shown.explanation
    assert SECRET not in repr(view)


def test_view_ids_of_mistakes_are_not_in_it():
    """They lead to the course's own notes."""
    one = diagnosis("v", mistakes=[f"{SECRET}-a", f"{SECRET}-b"], catalogue=[SECRET])
    part = make_part(charged=[Charge(mistake=f"{SECRET}-a", price=3)])

    view = view_of(make_submission(checks=[make_check(id="v")], diagnoses=[one], parts=[part]), "full")

    assert [one.title] == [charge.title for charge in view.parts[0].charged]
    assert SECRET not in repr(view)


def test_view_level_full_explains_mistakes_by_visible_checks():
    """A diagnosis is told with the visible checks it explains, and no others."""
    visible, hidden = make_check(id="v"), make_check(**HIDDEN)

    view = view_of(make_submission(checks=[visible, hidden], diagnoses=[diagnosis("v", hidden.id)]), "full")

    assert [("v",)] == [one.checks for one in view.diagnoses]
    assert SECRET not in repr(view)


@pytest.mark.parametrize("level", ["hint", "full"])
@pytest.mark.parametrize("verdict", [Verdict.PASSED, Verdict.BLOCKED])
def test_view_leaves_out_mistakes_shown_by_hidden_checks_only(level, verdict):
    """Naming what only a hidden check found would tell what it asks, though a visible one is named beside it."""
    score = 2 if verdict is Verdict.PASSED else 0
    visible, hidden = make_check(id="v", verdict=verdict, score=score), make_check(**HIDDEN)
    one = diagnosis("v", hidden.id, title=SECRET, hint=SECRET, explanation=SECRET, evidence=SECRET)

    view = view_of(make_submission(checks=[visible, hidden], diagnoses=[one]), level)

    assert () == view.diagnoses
    assert SECRET not in repr(view)


def test_view_mistake_names_only_callables_that_fail_a_visible_check():
    """A callable in which hidden checks alone found the mistake is not told."""
    visible, hidden = make_check(id="v"), make_check(**HIDDEN)

    view = view_of(
        make_submission(
            checks=[visible, hidden], diagnoses=[diagnosis("v", hidden.id, callables=[ATTENTION, hidden.callable])]
        ),
        "full",
    )

    assert (ATTENTION,) == view.diagnoses[0].callables
    assert SECRET not in repr(view)


def test_view_charge_tells_title_price_and_where_it_was_charged_first():
    """What a shown mistake cost is on the part and on the mistake."""
    checks = [make_check(id="v"), make_check(id="m", part="masked", callable="masked_attention")]
    parts = [
        make_part(charged=[Charge(mistake="scale-by-d", price=3)]),
        make_part(
            name="masked", title="Masked", charged=[Charge(mistake="scale-by-d", price=0, carried_from=ATTENTION)]
        ),
    ]
    one = diagnosis("v", "m", callables=[ATTENTION, "masked_attention"])

    view = view_of(make_submission(checks=checks, parts=parts, diagnoses=[one]))

    first, carried = view.diagnoses[0].charged
    assert (one.title, 3, False, None) == (first.title, first.price, first.is_carried, first.carried_from)
    assert ("Masked", 0, True, ATTENTION) == (carried.part, carried.price, carried.is_carried, carried.carried_from)
    assert ((first,), (carried,)) == tuple(part.charged for part in view.parts)


@pytest.mark.parametrize("level", ["hint", "full"])
def test_view_charge_of_a_hidden_mistake_tells_its_price_and_not_its_name(level):
    """The points are the student's, and what hidden checks ask is not."""
    hidden = make_check(**HIDDEN)
    part = make_part(charged=[Charge(mistake=SECRET, price=3, carried_from=SECRET)])
    one = diagnosis(hidden.id, mistakes=[SECRET], title=SECRET)

    view = view_of(make_submission(checks=[hidden], parts=[part], diagnoses=[one]), level)

    charge = view.parts[0].charged[0]
    assert (FOUND_BY_HIDDEN_CHECKS, 3, True, None) == (
        charge.title,
        charge.price,
        charge.is_carried,
        charge.carried_from,
    )
    assert SECRET not in repr(view)


def test_view_charge_carried_from_where_only_hidden_checks_show_it_does_not_say_where():
    """That a mistake is in a callable too may be known from a hidden check alone."""
    visible, hidden = make_check(id="v"), make_check(**HIDDEN)
    part = make_part(charged=[Charge(mistake="scale-by-d", price=0, carried_from=SECRET)])
    one = diagnosis("v", hidden.id, callables=[SECRET, ATTENTION])

    view = view_of(make_submission(checks=[visible, hidden], parts=[part], diagnoses=[one]), "full")

    assert (True, None) == (view.parts[0].charged[0].is_carried, view.parts[0].charged[0].carried_from)
    assert SECRET not in repr(view)


@pytest.mark.parametrize("level", ["hint", "full"])
def test_view_example_shapes_and_unrecognised_of_a_visible_failure_are_shown_whole(level):
    """Their inputs are their own, so nothing of them is kept back."""
    example, shapes = make_example(), make_shapes()
    submission = make_submission(
        checks=[make_check()], examples=[example], shapes=[shapes], unrecognised=[ATTENTION, "other"]
    )

    view = view_of(submission, level)

    assert [example.model_dump()] == [dataclasses.asdict(one) for one in view.examples]
    assert [shapes.model_dump()] == [dataclasses.asdict(one) for one in view.shapes]
    assert (ATTENTION,) == view.unrecognised


@pytest.mark.parametrize("level", ["hint", "full"])
@pytest.mark.parametrize("visible", ["passed", "blocked", "of another part"])
def test_view_example_shapes_and_unrecognised_of_a_hidden_failure_are_left_out(level, visible):
    """A callable that fails hidden checks only is not told to fail."""
    fields = {
        "passed": {"verdict": Verdict.PASSED, "score": 2},
        "blocked": {"verdict": Verdict.BLOCKED},
        "of another part": {"part": "masked"},
    }[visible]
    hidden = make_check(**HIDDEN | {"callable": ATTENTION})
    secret = make_matrix(SECRET, (1,), "dim", SECRET)
    submission = make_submission(
        checks=[make_check(id="v", **fields), hidden],
        examples=[make_example(inputs=[secret], remark=SECRET)],
        shapes=[make_shapes(sizes=SECRET)],
        unrecognised=[] if visible == "of another part" else [ATTENTION],
    )

    view = view_of(submission, level)

    assert ((), (), ()) == (view.examples, view.shapes, view.unrecognised)
    assert SECRET not in repr(view)


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


def test_view_final_score_and_adjustments_are_in_it_at_every_level():
    """Points that count, and the reasons that were written for the student."""
    adjustments = [
        Adjustment(kind="override", points=2, reason="fair", check=make_check().id),
        Adjustment(kind="late", points=-1, reason="one day"),
    ]
    submission = make_submission(adjustments=adjustments, final_score="13.5")

    view = view_of(submission, "verdict")

    assert (Decimal("12.50"), Decimal("13.50")) == (view.score, view.final_score)
    assert [("override", 2, "fair", "Output and weights are right"), ("late", -1, "one day", "")] == [
        (one.kind, one.points, one.reason, one.check) for one in view.adjustments
    ]


@pytest.mark.parametrize("check", [HIDDEN["id"], f"test_{SECRET}.py::gone"])
def test_view_override_of_a_hidden_check_shows_its_title_only(check):
    """The reason may tell what it asks; of a check that is not in the report nothing is known."""
    adjustment = Adjustment(kind="override", points=2, reason=SECRET, check=check)
    hidden = make_check(**HIDDEN)

    view = view_of(make_submission(checks=[hidden], adjustments=[adjustment], final_score="14.5"), "full")

    assert SECRET not in repr(view)
    assert [(2, hidden.title if check == hidden.id else "")] == [(one.points, one.check) for one in view.adjustments]


def test_view_date_of_a_commit_is_called_so_without_a_reproach():
    """What staff are told about students' machines is for staff."""
    handed_in = HandIn(source="git", time="2026-11-29T22:00:00Z")

    view = view_of(make_submission(handed_in=handed_in))

    assert "handed in 2026-11-29 22:00+00:00 by the date of the last commit" == view.handed_in


def test_view_grader_error_that_staff_decided_says_so():
    """Nobody waits for a second grading."""
    total = Adjustment(kind="override", points=70, reason="read by a person")
    submission = make_submission(
        status=Status.GRADER_ERROR, score=None, reason=SECRET, checks=(), adjustments=[total], final_score=70
    )

    view = view_of(submission)

    assert (GRADER_FAILED_AND_STAFF_DECIDED, None, 70) == (view.reason, view.score, view.final_score)
