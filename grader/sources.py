"""The text of one submission's files, as it will run."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The files of one submission that could be read, and why others could not."""

    #: File name to text.
    texts: Mapping[str, str]
    #: File name to reason.
    unreadable: Mapping[str, str] = field(default_factory=dict)
