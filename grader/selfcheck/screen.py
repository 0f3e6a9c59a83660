"""The terminal of one who checks their own work: cleared for each result while it is watched."""

import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from grader.selfcheck.session import Subject
from grader.selfcheck.words import Telling, broken, said_of
from grader.show import for_terminal

if TYPE_CHECKING:
    from grader.selfcheck.desk import Checked


class CheckScreen:
    """Results on standard output, news of the grader's on standard error."""

    def __init__(self, subject: Subject, *, is_watching: bool, is_everything: bool) -> None:
        self._out = Console(highlight=False, soft_wrap=True)
        self._err = Console(stderr=True, highlight=False, soft_wrap=True)
        self._subject = subject
        self._is_watching = is_watching
        points = {part.name: part.points for part in subject.assignment.parts}
        self._telling = Telling(max_scores=points, is_everything=is_everything)

    def begin(self) -> None:
        """Say what is about to be checked, and whose checks are run: the first result takes seconds."""
        about, checks = self._subject.assignment, self._subject.source.folder
        line = f"{about.title}: visible checks of {checks}, seed {about.published_seed}"
        self._err.print(Text(for_terminal(line), style="dim"))

    def show(self, checked: "Checked") -> None:
        """A result; in the place of the one before, while it is watched."""
        if self._is_watching:
            self._out.clear()
        for line in (*broken(checked.broken), *said_of(checked.view, self._telling)):
            self._out.print(line)
        if self._is_watching:
            files = ", ".join(checked.files) or "nothing"
            self._out.print(Text(f"{time.strftime('%H:%M:%S')}  checked {files}; waiting for a change", style="dim"))
