"""What became of one thing that was to be posted."""

import enum
from dataclasses import dataclass


class State(enum.StrEnum):
    """How it ended; the words are those of the command's output."""

    SENT = "sent"
    UNCHANGED = "unchanged"
    #: It was right to send nothing.
    LEFT_ALONE = "left alone"
    #: The token may not write, which is as it should be for a fork.
    READ_ONLY = "read only"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One comment, check, summary or student. `text` may quote a server or a student."""

    what: str
    state: State
    text: str
