"""An assignment's checks in an open pytest session, put to one submission after another.

Collecting costs as much as running, so a run collects once: `with_checks` opens the session and calls back while it
is open, and `Checking.examine` then runs all its tests for one submission, as often as it is called. Each time a
fresh pytest-json-report listens, and the results are read from its report.
"""

import itertools
import os
import re
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import pytest
from _pytest.runner import runtestprotocol
from pytest_jsonreport.plugin import Hooks, JSONReport

from grader.assignment import Assignment, AssignmentError
from grader.examination import Examination
from grader.plugin import CheckPlugin, CheckResult
from grader.spec import CheckSpec, validate, visible_checks
from grader.verdict import Verdict

#: Plugins of pytest that a session of checks does not need; each costs time with every test.
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
    "skipping",
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

#: The class of an exception of this package, before its text.
_OF_GRADER = re.compile(r"^grader\.[\w.]+: ")
#: A line of a traceback that is about a file of checks.
_OF_CHECKS = re.compile(r"(\S*/)?test_[^/]*\.py:\d+: in ")

Result = TypeVar("Result")


class ExamineError(Exception):
    """A session could not be run: the grader's or the assignment's fault, never a student's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """The result of a session: every check of the assignment, in order."""

    specs: tuple[CheckSpec, ...]
    results: tuple[CheckResult, ...]
    durations_s: tuple[float, ...]


class Checking:
    """The collected checks of an assignment, in an open pytest session."""

    def __init__(self, session: pytest.Session, plugin: CheckPlugin) -> None:
        self._session = session
        self._plugin = plugin
        self.specs = plugin.specs

    def examine(self, examination: Examination, parts: Collection[str] | None = None) -> Examined:
        """Put every check to the respondent of an examination; of these parts only, where they are named."""
        config = self._session.config
        self._plugin.begin(examination)
        listener = _Listener(config)
        items = [item for item in self._session.items if parts is None or self._plugin.part_of(item) in parts]
        specs = [spec for spec in self.specs if parts is None or spec.part in parts]
        config.pluginmanager.register(listener)
        try:
            listener.pytest_sessionstart(self._session)
            for item, following in itertools.pairwise([*items, None]):
                config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            listener.pytest_sessionfinish(self._session)
        finally:
            config.pluginmanager.unregister(listener)
        results = {result.id: (result, duration) for result, duration in map(_read, listener.report["tests"])}
        pairs = [results.get(spec.id, (_no_result(spec), 0.0)) for spec in specs]
        return Examined(
            specs=tuple(specs),
            results=tuple(result for result, _ in pairs),
            durations_s=tuple(duration for _, duration in pairs),
        )


def with_checks(assignment: Assignment, body: Callable[[Checking], Result], *, are_all: bool = True) -> Result:
    """Collect an assignment's checks, and call `body` while the session is open; passes on what it returns or raises.

    `are_all`: with the hidden ones; else the visible ones alone.

    Raises:
        ExamineError: collection failed.
        AssignmentError: the checks do not fit the assignment.
    """
    if not assignment.checks.is_dir():
        raise AssignmentError(f"{assignment.checks}: no such folder; wanted the checks, test_<part>.py")
    if not are_all and not visible_checks(assignment):
        raise AssignmentError(f"{assignment.checks}: there are no visible checks, wanted test_<part>.py for some part")
    loop = _Loop(assignment, body, are_all)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):  # what a person set for their own tests must not decide a grade
        os.environ.pop(name, None)
    _forget_check_modules()
    status = pytest.main(_arguments(assignment, are_all), plugins=[loop.plugin, loop])
    if loop.raised:
        raise loop.raised
    if status == pytest.ExitCode.INTERRUPTED:  # while it collected; pytest has caught it
        raise KeyboardInterrupt
    if not loop.has_run:
        if loop.problem:
            raise ExamineError(f"{assignment.checks}: a file of checks cannot be read\n{loop.problem}")
        raise ExamineError(f"{assignment.checks}: pytest ended with {status!s}: no test was collected")
    return loop.returned[0]


def _forget_check_modules() -> None:
    """Have check files read anew: pytest names their modules by their place below the root, which courses share."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "checks"]:
        del sys.modules[name]


class _Listener(JSONReport):
    """One submission's JSON report. It comes and goes within the session, so the session's own hooks are not its."""

    def pytest_addhooks(self, pluginmanager: pytest.PytestPluginManager) -> None:
        """`_Loop` has added them already."""

    def pytest_configure(self, config: pytest.Config) -> None:
        """It has its configuration already."""


class _Loop(Generic[Result]):
    """Takes the place of pytest's loop over the tests: calls back with the session open."""

    def __init__(self, assignment: Assignment, body: Callable[[Checking], Result], are_all: bool) -> None:
        self.plugin = CheckPlugin(assignment)
        self.returned: list[Result] = []
        self.raised: BaseException | None = None
        self.has_run = False
        self.problem = ""
        self._assignment = assignment
        self._body = body
        self._are_all = are_all

    def pytest_addhooks(self, pluginmanager: pytest.PytestPluginManager) -> None:
        pluginmanager.add_hookspecs(Hooks)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.problem = self.problem or _told(report.longreprtext)

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> bool | None:
        """Pass on what a check's own mark is at fault for, in the place of a traceback through pytest."""
        if not isinstance(excinfo.value, AssignmentError):
            return None
        self.raised = self.raised or excinfo.value
        return True

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """As pytest's own, but a set-up and a teardown that went well are not reported."""
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed:
                item.ihook.pytest_runtest_logreport(report=report)
        return True

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:  # a file of checks could not be collected
            return True
        self.has_run = True
        try:
            validate(self._assignment, self.plugin.specs, are_all=self._are_all)
            self.returned.append(self._body(Checking(session, self.plugin)))
        except BaseException as error:  # pytest would swallow it, an interruption too
            self.raised = error
        return True


def _told(traceback: str) -> str:
    """What a traceback says of the checks: their own last line, and the error; not how pytest came there."""
    lines = traceback.splitlines()
    own = [number for number, line in enumerate(lines) if _OF_CHECKS.match(line)]
    errors = [line.removeprefix("E").strip() for line in lines if line.startswith("E ")]
    return "\n".join(lines[own[-1] :] if own else errors or lines)


def _arguments(assignment: Assignment, are_all: bool) -> list[str]:
    files = [assignment.checks] if are_all else visible_checks(assignment)
    unused = [argument for name in _UNUSED for argument in ("-p", f"no:{name}")]
    return [
        *unused,
        "-p",
        "pytest_jsonreport",
        "-p",
        "legacypath",
        "--json-report-file=none",
        f"--json-report-omit={','.join(_OMITTED)}",
        "-c",
        os.devnull,
        f"--rootdir={assignment.folder}",
        "--import-mode=importlib",
        "--tb=short",
        "-q",
        *map(str, files),
    ]


def _read(test: dict[str, Any]) -> tuple[CheckResult, float]:
    """The result in one test of the JSON report; whatever is not a whole result is a fault of the grader."""
    metadata = test.get("metadata", {})
    call = test.get("call", {})
    check = metadata.get("check")
    passed = test["outcome"] == "passed"
    if check and passed == (check["verdict"] == Verdict.PASSED):
        return CheckResult.of_metadata(check), float(call.get("duration", 0.0))
    crashes = [test[stage]["crash"] for stage in ("setup", "call", "teardown") if "crash" in test.get(stage, {})]
    reason = _where(crashes[0]) if crashes else test["outcome"]
    return CheckResult(
        id=metadata.get("id", ""), verdict=Verdict.GRADER_ERROR, message=f"the check itself failed: {reason}"
    ), 0.0


def _where(crash: dict[str, Any]) -> str:
    """An error, and its place where that is a line of a check; an error of the course says itself where."""
    text = _OF_GRADER.sub("", crash["message"])
    file = Path(crash["path"]).name
    return f"{text} ({file}, line {crash['lineno']})" if file.startswith("test_") else text


def _no_result(spec: CheckSpec) -> CheckResult:
    return CheckResult(id=spec.id, verdict=Verdict.GRADER_ERROR, message="the check gave no result")
