"""Late days: when a submission counts as late, for how many days, and what that takes off."""

from datetime import datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from grader.handed_in import HandIn
from grader.late import LatePolicy, hand_in_text, in_words, is_late

DUE = datetime.fromisoformat("2026-11-29T23:59:00+01:00")


def policy(**fields):
    """A policy of ten percent a day, and any field of it."""
    return LatePolicy(**{"due": DUE, "percent_per_day": 10} | fields)


def handed_in(after=None, **fields):
    """Handed in so long after the deadline, as a platform says; without a time where none is given."""
    time = None if after is None else DUE + timedelta(**after)
    return HandIn(**{"source": "platform", "time": time} | fields)


def taken(points, handed_in, **fields):
    """What is taken off points, as points and reason."""
    made = policy(**fields).deduction(Decimal(points), handed_in)
    return made and (made.points, made.reason)


# --- days -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("after", "days"),
    [
        ({"seconds": -1}, 0),
        ({"seconds": 0}, 0),
        ({"microseconds": 1}, 1),
        ({"days": 1}, 1),
        ({"days": 1, "microseconds": 1}, 2),
        ({"days": 2, "hours": 3}, 3),
        ({"days": 400}, 400),
    ],
)
def test_late_days_count_as_soon_as_they_have_begun(after, days):
    """Exactly at the deadline is in time; a day and a moment is two days."""
    assert days == policy().days(handed_in(after))


@pytest.mark.parametrize(
    ("after", "days"),
    [
        ({"minutes": 15}, 0),
        ({"minutes": 15, "seconds": 1}, 1),
        ({"days": 1, "minutes": 15}, 1),
        ({"days": 1, "minutes": 16}, 2),
    ],
)
def test_late_grace_forgives_at_the_end_of_every_day(after, days):
    """Exactly at its end is in time, and days are counted from there."""
    assert days == policy(grace_minutes=15).days(handed_in(after))


@pytest.mark.parametrize(("hours", "days"), [(0, 3), (24, 2), (50.5, 1), (51, 0), (1e300, 0)])
def test_late_extension_moves_the_deadline(hours, days):
    """By whole and broken hours, of any number."""
    assert days == policy().days(handed_in({"hours": 51}, extension_hours=hours))


@pytest.mark.parametrize(
    ("fields", "days"),
    [
        ({"is_marked_late": True}, 2),
        ({"is_marked_late": True, "extension_hours": 24}, 1),
        ({"is_marked_late": True, "extension_hours": 48}, 0),
        ({"extension_hours": 48}, 0),
        ({}, 0),
    ],
)
def test_late_mark_without_a_time_counts_as_the_policy_says(fields, days):
    """A mark is so many days, less an extension; no mark is in time."""
    assert days == policy(marked_days=2).days(handed_in(**fields))


def test_late_time_counts_before_a_mark():
    """A platform may mark by another deadline than the assignment's."""
    assert 0 == policy().days(handed_in({"minutes": -5}, is_marked_late=True))


@pytest.mark.parametrize(
    ("time", "days"),
    [("2026-11-29T22:59:00+00:00", 0), ("2026-11-29T22:59:01+00:00", 1), ("2026-11-30T07:58:00+09:00", 0)],
)
def test_late_time_zones_are_one_moment(time, days):
    """Whoever hands in far away has the same deadline."""
    assert days == policy().days(HandIn(source="platform", time=time))


def test_late_day_is_24_hours_when_clocks_change():
    """Europe puts its clocks back in the night to 2026-10-25: the same time of day is 25 hours later."""
    berlin = ZoneInfo("Europe/Berlin")
    due = datetime(2026, 10, 24, 18, 0, tzinfo=berlin)
    next_day = due.replace(day=25)

    counted = [
        policy(due=due).days(HandIn(source="platform", time=time)) for time in (next_day, next_day - timedelta(hours=1))
    ]

    assert [2, 1] == counted


def test_late_dates_at_the_ends_of_the_calendar_are_no_fault():
    """A commit can carry any date."""
    for time in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"):
        hand_in = HandIn(source="git", time=time, extension_hours=1e9)

        assert policy().days(hand_in) in (0, *range(10**5, 10**7))
        assert time[:4] in hand_in_text(hand_in, policy(), is_for_staff=True)


# --- points -----------------------------------------------------------------------------------------------------


def test_late_deduction_is_a_share_of_the_points_reached():
    """Not of the points there are; the reason says how late, how that counts, and what it takes."""
    assert (
        Decimal("-24.00"),
        "handed in 2 days 3 hours after the deadline, which counts as 3 days: 30 % less",
    ) == taken("80", handed_in({"days": 2, "hours": 3}))


def test_late_deduction_stops_at_the_floor():
    """However late it is, that share is kept, and the reason says so."""
    points, reason = taken("80", handed_in({"days": 60}), floor_percent=40)

    assert Decimal("-48.00") == points
    assert reason.endswith("which counts as 60 days: 60 % less, the most that is taken off")


def test_late_deduction_never_goes_below_0():
    """Eleven days at ten percent take all there is."""
    assert Decimal("-80.00") == taken("80", handed_in({"days": 10.5}))[0]


@pytest.mark.parametrize(
    ("points", "kept"), [("0.05", "0.05"), ("0.15", "0.14"), ("12.35", "11.12"), ("12.34", "11.11")]
)
def test_late_what_is_kept_is_rounded_half_up_to_cents(points, kept):
    """Nine tenths of 12.35 are 11.115, which is 11.12; those of five cents are five cents."""
    made = policy().deduction(Decimal(points), handed_in({"hours": 1}))

    assert Decimal(kept) == Decimal(points) + (made.points if made else 0)


@settings(deadline=None, database=None, derandomize=True)
@given(
    points=st.decimals(0, 1000, places=2),
    percent=st.decimals(0, 100, places=3),
    floor=st.decimals(0, 100, places=3),
    hours=st.integers(0, 1000),
)
def test_late_final_points_stay_between_the_floor_and_what_was_reached(points, percent, floor, hours):
    """Whatever the policy says, and however late it was."""
    made = policy(percent_per_day=percent, floor_percent=floor).deduction(points, handed_in({"hours": hours}))

    final = points + (made.points if made else 0)
    assert points * floor / 100 <= final <= points
    assert final == round(final, 2)


@pytest.mark.parametrize(
    ("points", "hand_in", "fields"),
    [
        ("80", None, {}),
        ("80", handed_in({"hours": -1}), {}),
        ("80", handed_in({"hours": 1}), {"percent_per_day": 0}),
        ("80", handed_in({"hours": 1}), {"floor_percent": 100}),
        ("0", handed_in({"hours": 1}), {}),
        ("80", handed_in(is_marked_late=True), {"marked_days": 0}),
    ],
)
def test_late_deduction_of_nothing_is_none(points, hand_in, fields):
    """No adjustment is made that changes nothing."""
    assert taken(points, hand_in, **fields) is None


def test_late_deduction_for_a_mark_says_what_it_counts_as():
    """The student learns that no time was known."""
    reason = taken("80", handed_in(is_marked_late=True, extension_hours=12))[1]

    assert "marked as late, with the deadline extended by 12 hours, which counts as 1 day: 10 % less" == reason


# --- words ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("span", "words"),
    [
        ({"days": 2, "hours": 3, "minutes": 59}, "2 days 3 hours"),
        ({"days": 1, "minutes": 59}, "1 day"),
        ({"hours": 1, "minutes": 1, "seconds": 1}, "1 hour 1 minute"),
        ({"seconds": 61}, "1 minute 1 second"),
        ({"milliseconds": 999}, "less than a second"),
    ],
)
def test_late_span_is_told_in_two_units(span, words):
    """What is smaller is left out, and so is a unit of 0."""
    assert words == in_words(timedelta(**span))


@pytest.mark.parametrize(
    ("hand_in", "told"),
    [
        (
            handed_in({"minutes": 16}),
            "handed in 2026-11-30 00:15+01:00 by the platform's clock, 16 minutes after the deadline "
            "2026-11-29 23:59+01:00",
        ),
        (
            handed_in({"minutes": 15}),
            "handed in 2026-11-30 00:14+01:00 by the platform's clock, 15 minutes after the deadline "
            "2026-11-29 23:59+01:00, within the grace",
        ),
        (
            handed_in({"minutes": 30}, extension_hours=1, source="roster"),
            "handed in 2026-11-30 00:29+01:00 by the roster, in time for the deadline 2026-11-29 23:59+01:00, "
            "deadline extended by 1 hour",
        ),
        (handed_in(is_marked_late=True), "marked as late"),
        (None, ""),
    ],
)
def test_late_hand_in_is_told_beside_the_deadline(hand_in, told):
    """On the clock of the deadline, whatever clock it came with."""
    assert told == hand_in_text(hand_in, policy(grace_minutes=15), is_for_staff=True)


def test_late_hand_in_without_a_policy_is_told_as_it_is():
    """There is no deadline to compare it with."""
    hand_in = handed_in({"days": 1}, is_marked_late=True)

    assert "handed in 2026-11-30 23:59+01:00 by the platform's clock, marked as late" == hand_in_text(
        hand_in, None, is_for_staff=False
    )
    assert is_late(hand_in, None)


def test_late_date_of_a_commit_is_called_so_and_staff_are_warned():
    """Only staff: it is no reproach to the student."""
    hand_in = handed_in({"hours": -1}, source="git")
    told = [hand_in_text(hand_in, policy(), is_for_staff=is_staff) for is_staff in (True, False)]

    assert [True, True] == ["by the date of the last commit" in text for text in told]
    assert [True, False] == ["which is what the student's own machine said" in text for text in told]


# --- the record -------------------------------------------------------------------------------------------------


def test_late_policy_survives_json():
    """A report states it, and is read again."""
    stated = policy(percent_per_day="33.3", grace_minutes=15)

    assert stated == LatePolicy.model_validate_json(stated.model_dump_json())
    assert '"percent_per_day":33.3' in stated.model_dump_json()


@pytest.mark.parametrize("due", [1764457140, 1.5, DUE.date(), DUE.replace(tzinfo=None), "2026-11-29T23:59:00", "soon"])
def test_late_policy_wants_a_moment(due):
    """No number of seconds, no day, no time without its offset."""
    with pytest.raises(ValidationError):
        policy(due=due)
