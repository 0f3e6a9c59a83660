"""What is done to a score after grading: single checks, late days, totals, in this order, and never too much."""

from decimal import Decimal

import pytest
from sample_report import make_check, make_part, make_submission

from grader.adjust import Adjusting, adjusted, unmet
from grader.finding import Charge
from grader.late import LatePolicy
from grader.overrides import Override
from grader.report import Status
from grader.verdict import Verdict

POLICY = LatePolicy(due="2026-11-29T23:59:00+01:00", percent_per_day=10)
LATE = {"source": "platform", "time": "2026-11-30T12:00:00+01:00"}


def override(check, points, reason="fair"):
    """What staff decided of a check, or of the total."""
    return Override(
        where="overrides.csv, line 2",
        student="ada",
        check=None if check == "total" else check,
        points=Decimal(points),
        reason=reason,
    )


def check(id, score, max_score, callable="f", part="single_head"):
    """A check that gave these points."""
    verdict = Verdict.PASSED if score == max_score else Verdict.WRONG_VALUE
    return make_check(id=id, part=part, callable=callable, score=score, max_score=max_score, verdict=verdict)


def graded(*checks, charged=(), **fields):
    """A submission of one part of these checks; callables in `charged` lose these prices instead of their checks."""
    by_checks = sum(one.score for one in checks)
    most = sum(one.max_score for one in checks)
    by_mistakes = {name for name, _ in charged}
    left = sum(one.max_score if one.callable in by_mistakes else one.score for one in checks)
    charges = [Charge(mistake=f"m{number}", price=price, callable=name) for number, (name, price) in enumerate(charged)]
    score = left - sum(one.price for one in charges)
    part = make_part(score=score, max_score=most, score_checks=by_checks, charged=charges)
    return make_submission(**{"score": score, "max_score": most, "parts": [part], "checks": checks} | fields)


def changes(submission, *overrides, policy=None):
    """Kinds and points of what is done, and the final score."""
    entry = adjusted(submission, policy, overrides)
    return [(one.kind.value, one.points) for one in entry.adjustments], entry.final_score


# --- order ------------------------------------------------------------------------------------------------------


def test_adjust_check_comes_before_late_days():
    """The deduction is a share of what the check gives, too."""
    entry = graded(check("a", 8, 10), check("b", 0, 10), handed_in=LATE)

    assert ([("override", 10), ("late", Decimal("-1.80"))], Decimal("16.20")) == changes(
        entry, override("b", 10), policy=POLICY
    )


def test_adjust_total_is_final():
    """Nothing is taken off for late days, and a single check still shows."""
    entry = graded(check("a", 8, 10), check("b", 0, 10), handed_in=LATE)

    assert ([("override", 5), ("override", -3)], Decimal(10)) == changes(
        entry, override("total", 10), override("b", 5), policy=POLICY
    )


def test_adjust_nothing_to_do_keeps_the_entry():
    """It is the same one, so that nothing is written anew."""
    entry = graded(check("a", 8, 10))

    assert entry is adjusted(entry, POLICY, ())


def test_adjust_again_does_the_same_once():
    """An entry that is kept is adjusted from what was graded, not from what was made of it."""
    entry = graded(check("a", 8, 10), handed_in=LATE)
    first = adjusted(entry, POLICY, [override("a", 10)])

    assert first is adjusted(first, POLICY, [override("a", 10)])
    assert entry == adjusted(first, None, ())


def test_adjust_order_of_lines_is_no_matter():
    """A table can be sorted anyhow."""
    entry = graded(check("a", 0, 4), check("b", 4, 4), charged=[("f", 1)])
    lines = override("a", 4), override("b", 2)

    assert changes(entry, *lines) == changes(entry, *reversed(lines))


def test_adjust_override_that_changes_nothing_still_shows():
    """Staff decided it, and a regrade may make it matter."""
    assert ([("override", 0)], Decimal(8)) == changes(graded(check("a", 8, 10)), override("a", 8))


# --- points of a check ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("points", "change"), [(10, 10), ("2.5", "2.50"), (0, 0)])
def test_adjust_check_gets_its_points(points, change):
    """Where checks are charged, that is what it adds."""
    made, _ = changes(graded(check("a", 0, 10), check("b", 3, 3)), override("a", points))

    assert [("override", Decimal(change))] == made


def test_adjust_check_loses_its_points():
    """A pass that staff do not accept."""
    assert ([("override", -7)], Decimal(6)) == changes(graded(check("a", 10, 10), check("b", 3, 3)), override("a", 3))


def test_adjust_check_never_gives_more_than_its_callable_lost():
    """A mistake cost three points where the checks would have cost eight."""
    entry = graded(check("a", 0, 5), check("b", 0, 3), check("c", 0, 9, "g"), charged=[("f", 3)])

    assert ([("override", 3), ("override", 0)], Decimal(8)) == changes(entry, override("a", 5), override("b", 3))


def test_adjust_check_of_a_mistake_charged_elsewhere_gives_nothing():
    """The second callable lost nothing by it."""
    entry = graded(check("a", 0, 5), check("c", 0, 9, "g"), charged=[("f", 3), ("g", 0)])

    assert ([("override", 0)], Decimal(11)) == changes(entry, override("c", 9))


def test_adjust_check_never_takes_more_than_its_callable_has():
    """Whatever its checks say."""
    entry = graded(check("a", 5, 5), check("b", 0, 3), charged=[("f", "2.5")])
    harsh = graded(check("a", 5, 5), check("b", 0, 3), charged=[("f", 8)])

    assert [("override", -5)] == changes(entry, override("a", 0))[0]
    assert [("override", 0)] == changes(harsh, override("a", 0))[0]


def test_adjust_check_never_exceeds_its_part():
    """In a report that does not say which callable was charged, the part's points are the limit."""
    entry = graded(check("a", 0, 5), check("b", 0, 3), charged=[("f", 2)])
    part = entry.parts[0].model_copy(update={"charged": (Charge(mistake="m", price=2),)})
    old = make_submission(**dict(entry) | {"parts": [part]})

    assert ([("override", 2)], Decimal(8)) == changes(old, override("a", 5))


# --- without a score --------------------------------------------------------------------------------------------


def test_adjust_total_of_a_grader_error_is_its_score():
    """The code has none, and the student gets one."""
    entry = make_submission(status=Status.GRADER_ERROR, score=None, reason="died", parts=(), checks=(), handed_in=LATE)

    assert ([("override", 70)], Decimal(70)) == changes(entry, override("total", 70), policy=POLICY)


def test_adjust_late_days_and_checks_of_a_grader_error_make_no_score():
    """A fault of the grader is never a zero."""
    failed = make_check(verdict=Verdict.GRADER_ERROR, score=None)
    entry = make_submission(
        status=Status.GRADER_ERROR, score=None, reason="died", parts=(), checks=[failed], handed_in=LATE
    )

    assert ([], None) == changes(entry, override(failed.id, 1), policy=POLICY)


def test_adjust_total_of_an_ungradable_submission_is_its_final_score():
    """It came on paper, say."""
    entry = make_submission(status=Status.UNGRADABLE, score=0, reason="empty", parts=(), checks=(), handed_in=LATE)

    assert ([("override", 70)], Decimal(70)) == changes(entry, override("total", 70), policy=POLICY)
    assert ([], Decimal(0)) == changes(entry, policy=POLICY)


# --- what staff are told ----------------------------------------------------------------------------------------


def test_adjust_says_where_an_override_gives_less_than_it_says():
    """Nobody has to find out from the final score."""
    entry = graded(check("a", 0, 5), check("b", 0, 3), charged=[("f", 3)])

    assert ["overrides.csv, line 2: ada, a: +5.00 points asked for and +3.00 made, because f lost no more"] == unmet(
        entry, [override("a", 5)]
    )


def test_adjust_says_where_an_override_takes_less_than_it_says():
    """The other way round."""
    entry = graded(check("a", 5, 5), check("b", 0, 3), charged=[("f", 8)])

    assert ["overrides.csv, line 2: ada, a: -5.00 points asked for and +0.00 made, because f has no more"] == unmet(
        entry, [override("a", 0)]
    )


def test_adjust_says_that_checks_of_an_ungradable_submission_are_left_out():
    """And what to write instead; a total says it already."""
    entry = make_submission(status=Status.UNGRADABLE, score=0, reason="empty", parts=(), checks=())

    assert [
        "overrides.csv, line 2: ada, a: left out, because the submission is ungradable, and no points of its checks "
        "are known; decide its total instead"
    ] == unmet(entry, [override("a", 5)])
    assert [] == unmet(entry, [override("a", 5), override("total", 5)])


def test_adjusting_finds_overrides_by_the_id_of_the_submission():
    """Others get none of them."""
    adjusting = Adjusting(decided={"ada": [override("a", 10)]})
    ada, bob = (graded(check("a", 0, 10), id=name) for name in ("ada", "bob"))

    assert [10, 0] == [adjusting.applied(one).final_score for one in (ada, bob)]
    assert [] == adjusting.unmet(bob)
