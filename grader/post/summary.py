"""The summary of a job: Markdown appended to the file that a runner names, within what it takes."""

from collections.abc import Sequence
from pathlib import Path

from grader.post.errors import PostError
from grader.post.fit import fit
from grader.told.markdown import LEFT_OUT

VARIABLE = "GITHUB_STEP_SUMMARY"
#: A step's summaries together (GitHub, "Workflow commands": 1 MiB; beyond it the whole of it is dropped).
MOST_BYTES = 2**20


def append_summary(file: Path, pieces: Sequence[str]) -> str:
    """Append a result to a step's summary.

    Args:
        file: what `VARIABLE` names. What other commands of the step wrote stays.
        pieces: Markdown, the most important first; what does not fit is left out, and that is said.

    Returns:
        What was done: "written", or "unchanged" where the same is there already.

    Raises:
        PostError: it cannot be written, or is full.
    """
    try:
        there = file.read_bytes() if file.exists() else b""
        before = b"" if not there or there.endswith(b"\n\n") else b"\n\n"
        room = MOST_BYTES - len(there) - len(before)
        if room < len(LEFT_OUT) + 2:
            raise PostError(f"{VARIABLE}: what this step wrote before leaves no room below 1 MiB")
        text = fit(pieces, room, LEFT_OUT).encode("utf-8", "backslashreplace")
        if text in there:
            return "unchanged"
        with file.open("ab") as summary:
            summary.write(before + text)
    except OSError as error:
        raise PostError(f"{VARIABLE}: {file} cannot be written ({error.strerror})") from None
    return "written"
