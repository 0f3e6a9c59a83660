"""One pytest session over an assignment's checks, in this process, against one respondent."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from grader.assignment import Assignment
from grader.examination import Examination
from grader.plugin import CheckPlugin, CheckResult
from grader.spec import CheckSpec, validate
from grader.verdict import Verdict

#: Plugins of pytest that a session of checks does not need; each costs time in every session.
_UNUSED = (
    "cacheprovider",
    "capture",
    "debugging",
    "doctest",
    "faulthandler",
    "junitxml",
    "logging",
    "pastebin",
    "recwarn",
    "setuponly",
    "setupplan",
    "stepwise",
    "subtests",
    "terminalreporter",
    "threadexception",
    "tmpdir",
    "unittest",
    "unraisableexception",
    "warnings",
    "pytester",
    "monkeypatch",
)
_OMITTED = ("collectors", "environment", "keywords", "log", "streams", "traceback", "warnings")


class ExamineError(Exception):
    """A session could not be run: the grader's or the assignment's fault, never a student's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """The result of a session: every check of the assignment, in order."""

    specs: tuple[CheckSpec, ...]
    results: tuple[CheckResult, ...]
    durations_s: tuple[float, ...]


def examine(examination: Examination) -> Examined:
    """Put every check to the respondent.

    Raises:
        ExamineError: collection failed.
        AssignmentError: the checks do not fit the assignment.
    """
    plugin = CheckPlugin(examination)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    status = pytest.main(_arguments(examination.assignment), plugins=[plugin])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise ExamineError(
            f"{examination.assignment.checks}: pytest ended with {status!s}: {_collection_errors(plugin.report)}"
        )
    validate(examination.assignment, plugin.specs)
    tests = [_read(test) for test in plugin.report["tests"]]
    by_id = {result.id: (result, duration) for result, duration in tests}
    results = [by_id.get(spec.id, (_no_result(spec), 0.0)) for spec in plugin.specs]
    return Examined(
        specs=plugin.specs,
        results=tuple(result for result, _ in results),
        durations_s=tuple(duration for _, duration in results),
    )


def _arguments(assignment: Assignment) -> list[str]:
    unused = [argument for name in _UNUSED for argument in ("-p", f"no:{name}")]
    return [
        *unused,
        "-p",
        "pytest_jsonreport",
        "-p",
        "legacypath",
        "--json-report",
        "--json-report-file=none",
        f"--json-report-omit={','.join(_OMITTED)}",
        "-c",
        os.devnull,
        f"--rootdir={assignment.folder}",
        "--import-mode=importlib",
        "--tb=no",
        "-q",
        str(assignment.checks),
    ]


def _read(test: dict[str, Any]) -> tuple[CheckResult, float]:
    """The result in one test of the JSON report; whatever is not a whole result is a fault of the grader."""
    metadata = test.get("metadata", {})
    call = test.get("call", {})
    check = metadata.get("check")
    passed = test["outcome"] == "passed"
    if check and passed == (check["verdict"] == Verdict.PASSED):
        return CheckResult(**(check | {"verdict": Verdict(check["verdict"])})), float(call.get("duration", 0.0))
    crashes = [test[stage]["crash"] for stage in ("setup", "call", "teardown") if "crash" in test.get(stage, {})]
    reason = crashes[0]["message"] if crashes else test["outcome"]
    return CheckResult(
        id=metadata.get("id", ""), verdict=Verdict.GRADER_ERROR, message=f"the check itself failed: {reason}"
    ), 0.0


def _no_result(spec: CheckSpec) -> CheckResult:
    return CheckResult(id=spec.id, verdict=Verdict.GRADER_ERROR, message="the check gave no result")


def _collection_errors(report: dict[str, Any]) -> str:
    failed = [collector for collector in report.get("collectors", []) if collector.get("outcome") == "failed"]
    return "; ".join(str(collector.get("longrepr", "")) for collector in failed) or "no test was collected"


def lost_points(examined: Examined) -> Sequence[CheckResult]:
    """The results that are not `passed`."""
    return [result for result in examined.results if result.verdict is not Verdict.PASSED]
