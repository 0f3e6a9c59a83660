"""Who handed a submission in, and when: what a platform, a roster or git says of it."""

import enum

from pydantic import AwareDatetime, Field

from grader.record import Record, StudentText


class Person(Record):
    """Somebody whose submission it is. What is not known is empty."""

    name: StudentText = ""
    """Name for people, as the roster or the platform spells it."""
    email: StudentText = ""
    """E-mail address."""
    lms_id: StudentText = ""
    """Number on the platform: a Canvas user id, a Moodle participant, a Gradescope student id (sid)."""
    login: StudentText = ""
    """Name that they log in with: a SIS login, a GitHub user."""

    @property
    def label(self) -> str:
        """What to call them."""
        return self.name or self.login or self.email or self.lms_id


class TimeSource(enum.StrEnum):
    """Who says when a submission was handed in."""

    #: A mark or a time in what the platform exported.
    PLATFORM = "platform"
    ROSTER = "roster"
    #: The date of the last commit, which the committer's machine chose.
    GIT = "git"


class HandIn(Record):
    """When a submission was handed in, as far as anybody says."""

    source: TimeSource
    """Who says so."""
    time: AwareDatetime | None = None
    """When; null where there is only a mark."""
    is_marked_late: bool = False
    """Whether the platform marked it as late."""
    extension_hours: float = Field(default=0, ge=0, allow_inf_nan=False)
    """Hours by which the deadline was moved for this submission."""
