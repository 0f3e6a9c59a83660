"""What the GitHub action tells later steps of a job: `python -m grader.package.outputs REPORT`.

Numbers and one word of our own, so that nothing a student chose becomes a line of its own.
"""

import sys
from pathlib import Path

from grader.record import points_text
from grader.report import Report
from grader.report_json import ReportError, from_json
from grader.show import for_terminal


def outputs(report: Report) -> dict[str, str]:
    """Names and values. Those of a single submission are empty where the report has several, or no score."""
    one = report.submissions[0] if len(report.submissions) == 1 else None
    return {
        "score": points_text(one.score) if one else "",
        "final-score": points_text(one.final_score) if one else "",
        "max-score": points_text(report.assignment.max_score),
        "status": one.status.value if one else "",
    }


def main(arguments: list[str]) -> int:
    """Print them as lines for the file GITHUB_OUTPUT; returns the exit code."""
    if len(arguments) != 1:
        print("usage: python -m grader.package.outputs REPORT", file=sys.stderr)
        return 2
    path = Path(arguments[0])
    try:
        report = from_json(path.read_bytes(), str(path))
    except (OSError, ReportError) as error:
        print(for_terminal(f"outputs: {error}"), file=sys.stderr)
        return 2
    for name, value in outputs(report).items():
        print(f"{name}={value}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
