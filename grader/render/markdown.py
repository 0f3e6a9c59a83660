"""summary.md: a class on one screen, for the summary of a CI job."""

from collections.abc import Iterator

from grader.record import points_text
from grader.render.overview import CheckTally, MistakeTally, Overview, Row, UnrecognisedTally
from grader.report import Isolation, RunHeader, Status
from grader.show import for_markdown, for_markdown_prose

MOST_ROWS = 100
MOST_CHECKS = 10
MOST_MISTAKES = 10
MOST_MISSING = 30
#: Stands where there are no points.
_NONE = "–"


def summary_markdown(overview: Overview) -> str:
    """Write counts, mean, the most frequent mistakes, at most 100 submissions and the checks failed most.

    As GitHub's Markdown.
    """
    blocks = [
        f"# {for_markdown_prose(overview.header.assignment.title)}",
        *_isolation(overview),
        _figures(overview),
        *_adjustments(overview),
        *_missing(overview.header),
        *_mistakes(overview),
        *_submissions(overview),
        *_checks(overview),
        _facts(overview),
    ]
    return "\n\n".join(blocks) + "\n"


def _isolation(overview: Overview) -> Iterator[str]:
    grader = overview.header.grader
    if grader.isolation is not Isolation.STRONG:
        yield (
            f"> **Isolation: {grader.isolation}.** Student code was not kept fully apart from the grader and "
            "this machine, so a hostile submission could have changed a score. "
            f"{for_markdown_prose(grader.isolation_detail)}".rstrip()
        )


def _figures(overview: Overview) -> str:
    counts = [f"{overview.count(status)} {status.replace('_', ' ')}" for status in Status if overview.count(status)]
    max_score = points_text(overview.header.assignment.max_score)
    total = len(overview.rows)
    figures = f"**{total} submission{'' if total == 1 else 's'}**" + (f": {', '.join(counts)}" if counts else "") + "."
    if overview.mean is None:
        return figures
    mean, median = points_text(overview.mean, _NONE), points_text(overview.median, _NONE)
    figures = f"{figures} Mean **{mean}**, median {median} of {max_score}."
    if overview.is_adjusted:
        figures += (
            f" With late days and overrides: mean **{points_text(overview.final_mean, _NONE)}**, "
            f"median {points_text(overview.final_median, _NONE)}."
        )
    return figures


def _adjustments(overview: Overview) -> Iterator[str]:
    lines = overview.adjustments()
    if lines:
        yield "\n".join(f"- {line}" for line in lines)


def _missing(header: RunHeader) -> Iterator[str]:
    if header.imported:
        yield f"{for_markdown(header.imported)}."
    for what, names in (
        (f"of {header.on_roster} handed nothing in", [person.label for person in header.missing]),
        ("of the submissions are of nobody on the roster", list(header.strangers)),
    ):
        if names:
            shown = ", ".join(map(for_markdown, names[:MOST_MISSING]))
            left_out = len(names) - MOST_MISSING
            more = f" and {left_out} more" if left_out > 0 else ""
            yield f"**{len(names)}** {what}: {shown}{more}."


def _mistakes(overview: Overview) -> Iterator[str]:
    if not (overview.mistakes or overview.unrecognised):
        return
    yield "## Mistakes in this class"
    mistakes = map(_mistake_cells, overview.mistakes[:MOST_MISTAKES])
    unrecognised = map(_unrecognised_cells, overview.unrecognised[:MOST_MISTAKES])
    yield _table([["Mistake", "Students", "Share", "Id"], [":--", "--:", "--:", ":--"], *mistakes, *unrecognised])
    left_out = len(overview.mistakes) - MOST_MISTAKES
    if left_out > 0:
        yield f"{left_out} rarer {'mistake' if left_out == 1 else 'mistakes'} left out here; all are in `index.html`."


def _mistake_cells(mistake: MistakeTally) -> list[str]:
    return [for_markdown_prose(mistake.title), str(mistake.students), _share(mistake.share), for_markdown(mistake.id)]


def _unrecognised_cells(one: UnrecognisedTally) -> list[str]:
    return [f"Not recognised, in {for_markdown(one.callable)}", str(one.students), _share(one.share), ""]


def _submissions(overview: Overview) -> Iterator[str]:
    if not overview.rows:
        return
    scores = ["Final", "Score"] if overview.is_adjusted else ["Score"]
    heads = ["Submission", *scores, *(for_markdown_prose(part.title) for part in overview.parts), "First problem"]
    rule = [":--", *["--:"] * (len(scores) + len(overview.parts)), ":--"]
    rows = [_cells(row, overview) for row in overview.rows[:MOST_ROWS]]
    yield _table([heads, rule, *rows])
    left_out = len(overview.rows) - MOST_ROWS
    if left_out > 0:
        yield f"{left_out} more left out here; all are in `grades.csv` and `index.html`."


def _cells(row: Row, overview: Overview) -> list[str]:
    parts = [points_text(row.parts.get(part.name), _NONE) for part in overview.parts]
    final = [points_text(row.final_score, _NONE)] if overview.is_adjusted else []
    return [for_markdown(row.id), *final, points_text(row.score, _NONE), *parts, for_markdown(row.first_problem)]


def _checks(overview: Overview) -> Iterator[str]:
    if overview.checks:
        yield "## Checks failed most"
        heads = [["Check", "Part", "Failed", "Blocked"], [":--", ":--", "--:", "--:"]]
        yield _table([*heads, *map(_check_cells, overview.checks[:MOST_CHECKS])])


def _check_cells(check: CheckTally) -> list[str]:
    return [for_markdown_prose(check.title), for_markdown_prose(check.part), str(check.failed), str(check.blocked)]


def _facts(overview: Overview) -> str:
    header = overview.header
    return (
        f"Grader {for_markdown_prose(header.grader.version)}, torch {for_markdown_prose(header.grader.torch)}, "
        f"seed {header.seed}, isolation {header.grader.isolation}, "
        f"assignment digest {for_markdown(header.assignment.digest)}."
    )


def _table(rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _share(share: float) -> str:
    return f"{share:.0%}"
