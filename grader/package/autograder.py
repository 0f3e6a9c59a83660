"""What runs at Gradescope for each submission: from /autograder/submission to /autograder/results/results.json.

    python -m grader.package.autograder /autograder

Runs as root, beside code it does not trust. Folders that hold answers or results are closed to everybody else before
any of that code runs; the code itself runs in the grader's workers, as another user. When the grader fails there is no
results.json and the exit code is not 0: Gradescope then says that the autograder failed, which is no grade. A
submission that cannot be read is the student's, and gets the result that says so.

The grader runs as commands of its own, `grade run` and `grade export gradescope`, as on any other machine.
"""

import contextlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from grader.fault import Fault
from grader.package.hand_in import HandInError, read_hand_in, write_export
from grader.report import Isolation, Report, Status
from grader.report_json import from_json
from grader.show import for_terminal
from grader.whole_file import replace_whole

#: The course, below the folder that the zip was unpacked in.
COURSE = "course"
RESULTS = "results.json"


class AutograderError(Fault):
    """There is no result; the text says why, for staff."""


def main(arguments: list[str]) -> int:
    """Grade the submission below a root folder; returns the exit code."""
    if len(arguments) != 1:
        print("usage: python -m grader.package.autograder FOLDER  (Gradescope's is /autograder)", file=sys.stderr)
        return 2
    try:
        grade_submission(Path(arguments[0]))
    except (Fault, OSError, ValueError) as error:
        print(for_terminal(f"autograder: no score was given. {error}"), flush=True)
        return 1
    return 0


def grade_submission(root: Path) -> None:
    """Grade what lies in `submission`, and write the results.

    Raises:
        AutograderError: the grader failed.
        ReportError: its report cannot be read.
        OSError: a folder or a file is not there, or cannot be used.
    """
    results = root / "results"
    close_folders(root)
    with contextlib.suppress(FileNotFoundError):  # of an earlier attempt: it must not be taken for this one's
        (results / RESULTS).unlink()
    with tempfile.TemporaryDirectory(prefix="grade-") as name:  # which only its owner may enter
        work = Path(name)
        submissions = _set_out(root, work)
        report = _grade(root, submissions, work / "report")
        replace_whole(results / RESULTS, [_export(report, work)])


def close_folders(root: Path) -> None:
    """Keep everybody else out of the answers, of the results, and of what Gradescope says of the student."""
    for name in ("source", "results", "submission", "submission_metadata.json"):
        path = root / name
        if path.exists():
            path.chmod(0o700 if path.is_dir() else 0o600)


def _set_out(root: Path, work: Path) -> Path:
    """A folder of one submission, laid out as Gradescope exports a class, so that it is read as such."""
    try:
        hand_in = read_hand_in(root / "submission_metadata.json")
    except HandInError as error:
        print(for_terminal(f"autograder: {error}; going on without knowing who handed in, and when"), flush=True)
        hand_in = None
    return write_export(hand_in, root / "submission", work / "assignment_export")


def _grade(root: Path, submissions: Path, out: Path) -> Path:
    """Run `grade`; returns the path of its report, which holds a score."""
    course = root / "source" / COURSE
    names = [path.name for path in (course / "assignments").iterdir()]
    if len(names) != 1:
        raise AutograderError(f"{course / 'assignments'} holds {len(names)} assignments, wanted one")
    code = _run("run", submissions, "-a", names[0], "--course", course, "-o", out, "--isolation", "best")
    if code not in (0, 1):  # 1: it has no score, or 0 points because it cannot be read; the report says which
        raise AutograderError(f"`grade run` ended with exit code {code}; its message is above")
    path = out / "report.json"
    _must_hold_a_score(from_json(path.read_bytes(), str(path)))
    return path


def _must_hold_a_score(report: Report) -> None:
    if len(report.submissions) != 1:
        raise AutograderError(f"{len(report.submissions)} submissions were found in one")
    submission = report.submissions[0]
    if submission.status is Status.GRADER_ERROR:
        raise AutograderError(f"The grader failed: {submission.reason}")
    if report.grader.isolation is Isolation.NONE:
        raise AutograderError(
            f"Students' code cannot be kept away from the grader here. {report.grader.isolation_detail} "
            "Scores from this machine could be forged"
        )


def _export(report: Path, work: Path) -> bytes:
    """Gradescope's own form of the report's one submission."""
    path = work / RESULTS
    code = _run("export", "gradescope", report, "-o", path)
    if code:
        raise AutograderError(f"`grade export gradescope` ended with exit code {code}; its message is above")
    found = path.read_bytes()
    _must_be_results(json.loads(found))
    return found


def _must_be_results(found: Any) -> None:
    """Raises AutograderError where Gradescope would see no score, or students this program's log."""
    if not isinstance(found, dict) or not isinstance(found.get("score"), int | float):
        raise AutograderError("`grade export gradescope` wrote no score")
    if found.get("stdout_visibility", "hidden") != "hidden":
        raise AutograderError("`grade export gradescope` would have shown this log, which is for staff, to students")


def _run(*arguments: str | Path) -> int:
    """Run `grade`, with what it prints going where this program's goes."""
    command = [sys.executable, "-P", "-m", "grader", *map(str, arguments)]
    return subprocess.run(command, stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
