"""Late days: how long after the deadline a submission came, in words, and what an assignment takes off for it.

A deadline is a moment, whatever clocks show: time zones, and the hour that a clock is put forward or back, change
nothing, and a day is 24 hours. Days are counted as soon as they have begun, from the end of the grace. What is taken
off is a share of the points reached; what is kept is rounded half up to cents, and never below the floor.

Only times, marks and points are looked at here; nothing is known of submissions, and nothing is read.
"""

import contextlib
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from typing import Annotated, Any

from pydantic import AwareDatetime, BeforeValidator, Field, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticCustomError

from grader.adjustment import Adjustment, AdjustmentKind
from grader.handed_in import HandIn, TimeSource
from grader.record import Record, round_score

_DAY = timedelta(days=1)
#: Longest extension that is reckoned with; beyond it a sum of times could leave the calendar.
_MOST_EXTENSION = timedelta(days=365 * 100)
_UNITS = (
    ("day", _DAY),
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
    ("second", timedelta(seconds=1)),
)
_SAID_BY = {
    TimeSource.PLATFORM: "by the platform's clock",
    TimeSource.ROSTER: "by the roster",
    TimeSource.GIT: "by the date of the last commit",
}


def _moment(value: Any) -> Any:
    """A date and time with its offset. A number would be taken for seconds since 1970, and a date for midnight."""
    if not isinstance(value, datetime | str) or (isinstance(value, datetime) and value.tzinfo is None):
        raise PydanticCustomError(
            "moment", "wanted a date and time with its offset from UTC, such as 2026-11-29T23:59:00+01:00"
        )
    return value


Percent = Annotated[
    Decimal,
    Field(ge=0, le=100, allow_inf_nan=False),
    PlainSerializer(float, return_type=float, when_used="json"),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 100, "description": "Percent."}),
]


class LatePolicy(Record):
    """What handing in late costs: `[late]` of an assignment."""

    due: Annotated[AwareDatetime, BeforeValidator(_moment)]
    """The deadline, with its offset from UTC."""
    grace_minutes: int = Field(default=0, ge=0, le=100_000, strict=True)
    """Minutes after the deadline that cost nothing. Days are counted from their end."""
    percent_per_day: Percent
    """Percent of the points reached that each day costs; a day counts as soon as it has begun."""
    floor_percent: Percent = Decimal(0)
    """Percent of the points reached that are kept, however late it is."""
    marked_days: int = Field(default=1, ge=0, le=1000, strict=True)
    """Days that a mark counts as which says late, and not when."""

    def days(self, handed_in: HandIn) -> int:
        """Days that count against a submission; 0 when it came in time, or when nobody says when it came."""
        after = self.after_deadline(handed_in)
        if after is not None:
            late = after - timedelta(minutes=self.grace_minutes)
        else:
            late = handed_in.is_marked_late * self.marked_days * _DAY - _extension(handed_in)
        return max(0, -(-late // _DAY))  # rounded up, exactly

    def after_deadline(self, handed_in: HandIn) -> timedelta | None:
        """How long after its deadline, extension included, a submission came: below 0 before it, None when unknown."""
        return _since(self.due, handed_in.time) - _extension(handed_in) if handed_in.time else None

    def percent_kept(self, days: int) -> Decimal:
        """Percent of the points reached that are left after so many days."""
        return max(100 - days * self.percent_per_day, self.floor_percent)

    def deduction(self, points: Decimal, handed_in: HandIn | None) -> Adjustment | None:
        """What is taken off the points reached; None where that is nothing."""
        days = self.days(handed_in) if handed_in else 0
        percent = self.percent_kept(days)
        floor = (points * self.floor_percent / 100).quantize(Decimal("0.01"), ROUND_CEILING)
        taken = max(round_score(points * percent / 100), floor) - points
        if handed_in is None or not taken:
            return None
        return Adjustment(kind=AdjustmentKind.LATE, points=taken, reason=self._reason(handed_in, days, percent))

    def _reason(self, handed_in: HandIn, days: int, percent: Decimal) -> str:
        is_capped = percent > 100 - days * self.percent_per_day
        return (
            f"{self._how_late(handed_in)}, which counts as {_count(days, 'day')}: {_number(100 - percent)} % less"
            f"{', the most that is taken off' if is_capped else ''}"
        )

    def _how_late(self, handed_in: HandIn) -> str:
        extended = f", extended by {in_words(_extension(handed_in))}" if handed_in.extension_hours else ""
        after = self.after_deadline(handed_in)
        if after is None:
            return f"marked as late{extended and ', with the deadline' + extended.removeprefix(',')}"
        return f"handed in {in_words(after)} after the deadline{extended}"


def is_late(handed_in: HandIn | None, policy: LatePolicy | None) -> bool:
    """Whether a submission came late: by the policy where there is one, else by a platform's mark."""
    if handed_in is None:
        return False
    return policy.days(handed_in) > 0 if policy else handed_in.is_marked_late


def hand_in_text(handed_in: HandIn | None, policy: LatePolicy | None, *, is_for_staff: bool) -> str:
    """Say when a submission was handed in, who says so, and how that is to the deadline; empty where nobody says."""
    return ", ".join(_said(handed_in, policy, is_for_staff)) if handed_in else ""


def _said(handed_in: HandIn, policy: LatePolicy | None, is_for_staff: bool) -> Iterator[str]:
    if handed_in.time is not None:
        yield f"handed in {_clock(handed_in.time, policy)} {_SAID_BY[handed_in.source]}"
    if handed_in.time is not None and handed_in.source is TimeSource.GIT and is_for_staff:
        yield "which is what the student's own machine said"
    if handed_in.is_marked_late:
        yield "marked as late"
    after = policy.after_deadline(handed_in) if policy else None
    if policy and after is not None:
        yield _against(policy, handed_in, after)
    if handed_in.extension_hours:
        yield f"deadline extended by {in_words(_extension(handed_in))}"


def _against(policy: LatePolicy, handed_in: HandIn, after: timedelta) -> str:
    deadline = f"the deadline {_clock(policy.due, policy)}"
    if after <= timedelta(0):
        return f"in time for {deadline}"
    within = "" if policy.days(handed_in) else ", within the grace"
    return f"{in_words(after)} after {deadline}{within}"


def in_words(time: timedelta) -> str:
    """A span of time in its two largest units: `2 days 3 hours`. What is smaller is left out."""
    words: list[str] = []
    for name, unit in _UNITS:
        count, time = divmod(time, unit)
        if count or words:
            words.append(_count(count, name) if count else "")
    return " ".join(filter(None, words[:2])) or "less than a second"


def _count(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"


def _number(percent: Decimal) -> str:
    text = f"{percent:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _extension(handed_in: HandIn) -> timedelta:
    return min(timedelta(hours=min(handed_in.extension_hours, 1e6)), _MOST_EXTENSION)


def _since(earlier: datetime, later: datetime) -> timedelta:
    """The time between two moments. Python leaves offsets out where both have one and the same time zone."""
    offsets = (later.utcoffset() or timedelta(0)) - (earlier.utcoffset() or timedelta(0))
    return later.replace(tzinfo=None) - earlier.replace(tzinfo=None) - offsets


def _clock(moment: datetime, policy: LatePolicy | None) -> str:
    """A moment, on the clock of the deadline where there is one."""
    with contextlib.suppress(OverflowError):  # a commit may be dated in the year 1
        moment = moment.astimezone(policy.due.tzinfo) if policy else moment
    return moment.isoformat(sep=" ", timespec="minutes")
