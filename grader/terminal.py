"""What a TA sees while a run goes on and when it has ended. Strings of students pass `show.for_terminal`."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from grader.record import points_text
from grader.render.overview import Overview, Row
from grader.report import Grader, Isolation, RunHeader, Status
from grader.show import for_runner_log, for_terminal
from grader.store import Store

#: Rows of the table; a class of hundreds is read in index.html.
MOST_ROWS = 60
#: Lines of mistakes, and of callables with an unknown one.
MOST_MISTAKES = 8
#: Lines of one kind of news.
MOST_NEWS = 10
#: People and ids in a line.
MOST_NAMES = 20
#: Characters of an id in the table.
_LONGEST_ID = 28
#: Seconds between lines of progress where there is no terminal to redraw.
_QUIET_S = 10.0


class Screen:
    """Writes to standard error while working, to standard output for the result."""

    def __init__(self) -> None:
        self._out = Console(highlight=False)
        self._err = Console(stderr=True, highlight=False)

    def banner(self, header: RunHeader, count: int, jobs: int) -> None:
        """What is about to be graded."""
        name = header.assignment.name
        self._err.print(
            f"Grading {count} {'submission' if count == 1 else 'submissions'} of {name}, "
            f"{jobs} at a time, seed {header.seed}",
            markup=False,
        )

    def handed_in(self, header: RunHeader, remarks: Iterable[str]) -> None:
        """How the class was handed over, what was left of it, and whose submissions nobody expects."""
        self.say(header.imported)
        for remark in remarks:
            self.say(f"  {remark}")
        if header.strangers:
            count = len(header.strangers)
            self.say(
                f"  {header.roster}: {count} {'submission is' if count == 1 else 'submissions are'} of nobody on it: "
                f"{_some(header.strangers)}"
            )

    def isolation(self, grader: Grader) -> None:
        """A warning, where students' code is less than strongly confined."""
        if grader.isolation is not Isolation.STRONG:
            self._err.print(Text(f"Isolation: {grader.isolation}. {grader.isolation_detail}", style="bold yellow"))

    def say(self, text: str) -> None:
        """One line of news. A name in it may hold line breaks."""
        self._err.print(Text(for_runner_log(text)))

    def say_some(self, texts: Sequence[str]) -> None:
        """The first of many lines of news, and how many more there are."""
        for text in texts[:MOST_NEWS]:
            self.say(text)
        if len(texts) > MOST_NEWS:
            self.say(f"... and {len(texts) - MOST_NEWS} more of this kind")

    @contextmanager
    def progress(self, total: int) -> Iterator["Count"]:
        """Count finished submissions: a bar where there is a terminal, a line now and then elsewhere."""
        if not self._err.is_terminal:
            yield Count(self._err, total, None)
            return
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self._err, auto_refresh=False, transient=True) as bar:
            yield Count(self._err, total, bar)

    @contextmanager
    def steps(self, what: str) -> Iterator[Callable[[int, int], None]]:
        """Show how many of how many steps are done; nothing but a line at the start where there is no terminal."""
        if not self._err.is_terminal:
            self._err.print(f"{what} ...", markup=False)
            yield lambda number, total: None
            return
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self._err, transient=True) as bar:
            task = bar.add_task(what, total=None)
            yield lambda number, total: bar.update(task, completed=number, total=total)

    def result(self, overview: Overview, store: Store) -> None:
        """The table, the mistakes by frequency, the figures, and where the reports are."""
        self._out.print(_table(overview, self._out.width))
        if len(overview.rows) > MOST_ROWS:
            self._out.print(f"... and {len(overview.rows) - MOST_ROWS} more; index.html lists all of them")
        self._mistakes(overview)
        mean = (
            f", mean {overview.mean:.2f} of {overview.header.assignment.max_score:.2f}"
            if overview.mean is not None
            else ""
        )
        if overview.is_adjusted and overview.final_mean is not None:
            mean += f"; final mean {overview.final_mean:.2f}"
        counts = [f"{overview.count(status)} {status.replace('_', ' ')}" for status in Status if overview.count(status)]
        self._out.print(f"{', '.join(counts)}{mean}")
        for line in overview.adjustments():
            self._out.print(f"  {line}", markup=False)
        self._missing(overview.header)
        for file in ("index.html", "students", "grades.csv", "summary.md", "report.json"):
            self._out.print(f"  {store.folder / file}", markup=False, soft_wrap=True)

    def _missing(self, header: RunHeader) -> None:
        if not header.roster:
            return
        names = _some(person.label for person in header.missing)
        text = f"{len(header.missing)} of {header.on_roster} on {header.roster} handed nothing in"
        self._out.print(for_terminal(f"{text}: {names}" if names else text), markup=False)

    def _mistakes(self, overview: Overview) -> None:
        mistakes = [(one.students, one.title) for one in overview.mistakes]
        unknown = [(one.students, f"{one.callable}: wrong, but not recognised") for one in overview.unrecognised]
        if not (mistakes or unknown):
            return
        self._out.print("\nMistakes in this class, by students who made them")
        for students, text in mistakes[:MOST_MISTAKES] + unknown[:MOST_MISTAKES]:
            line = f"{students:>4}  {for_terminal(text)}"
            self._out.print(line, markup=False, no_wrap=True, overflow="ellipsis")
        if len(mistakes) > MOST_MISTAKES:
            self._out.print(f"      ... and {len(mistakes) - MOST_MISTAKES} more; index.html lists all of them")
        self._out.print()


class Count:
    """Progress of one run."""

    def __init__(self, console: Console, total: int, bar: Progress | None) -> None:
        self._console, self._total, self._bar = console, total, bar
        self._task = bar.add_task("grading", total=total) if bar else None
        self._done = 0
        self._begin = self._last = time.monotonic()

    def step(self) -> None:
        """One more is finished."""
        self._done += 1
        if self._bar and self._task is not None:
            self._bar.update(self._task, advance=1, refresh=True)
        elif time.monotonic() - self._last >= _QUIET_S:
            self._last = time.monotonic()
            left = (self._last - self._begin) / self._done * (self._total - self._done)
            self._console.print(f"{self._done} of {self._total} graded, about {left:.0f} s left")


def _some(names: Iterable[str]) -> str:
    """A few of many names."""
    everything = [" ".join(name.split()) for name in names]
    left = len(everything) - MOST_NAMES
    return ", ".join(everything[:MOST_NAMES]) + (f" and {left} more" if left > 0 else "")


def _table(overview: Overview, width: int) -> Table:
    """A row a submission; without the parts where the terminal is too narrow to show their points whole."""
    rows = overview.rows[:MOST_ROWS]
    longest = min(max((len(row.id) for row in rows), default=0), _LONGEST_ID)
    scores = ["final", "score"] if overview.is_adjusted else ["score"]
    parts = [part.name for part in overview.parts]
    if longest + sum(max(len(name), 6) + 2 for name in (*scores, *parts)) > width:
        parts = []
    table = Table(box=None, pad_edge=False)
    table.add_column("submission", no_wrap=True, overflow="ellipsis", min_width=max(longest, 10), max_width=_LONGEST_ID)
    for name in (*scores, *parts):
        table.add_column(name, justify="right", no_wrap=True, min_width=max(len(name), 6))
    table.add_column("first problem")  # the one that gives way: were it `no_wrap`, rich would drop narrower columns
    for row in rows:
        table.add_row(*_cells(row, parts, overview.is_adjusted))
    return table


def _cells(row: Row, parts: list[str], has_final: bool) -> list[Text]:
    style = "" if row.status is Status.GRADED else "bold red"
    score = Text(points_text(row.score, "-"), style=style or ("" if has_final else "bold"))
    return [
        Text(for_terminal(" ".join(row.id.split()))),
        *([Text(points_text(row.final_score, "-"), style="bold")] if has_final else []),
        score,
        *(Text(points_text(row.parts.get(part), "-")) for part in parts),
        Text(for_terminal(row.first_problem), style=style, no_wrap=True, overflow="ellipsis"),
    ]
