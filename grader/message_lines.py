"""Lines that messages are made of: what was called and what went in, and labelled rows."""

from grader.failure import Asked


def headline(asked: Asked | None, what: str) -> list[str]:
    """What was called, what came of it, and what went in; where nothing was called, what came of it alone."""
    if asked is None:
        return [what]
    lines = [f"{asked.text} {what}"]
    return [*lines, row("input", asked.inputs)] if asked.inputs else lines


def row(label: str, text: str) -> str:
    """One labelled line; further lines are set under the first."""
    return f"  {label:<9} " + text.replace("\n", "\n" + " " * 12)
