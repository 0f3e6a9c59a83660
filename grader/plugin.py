"""The pytest side: checks become tests, and what each concluded becomes the metadata of its JSON report.

`examine` registers a `CheckPlugin` for `grade`, `standalone` for `pytest CHECKS --submission FOLDER`.
"""

import dataclasses
import traceback
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader import spec
from grader.assignment import Assignment, AssignmentError
from grader.checks import Student
from grader.examination import Examination
from grader.failure import BrokenNeighbour, CheckFailed, ClaimFailed, PrerequisiteFailed
from grader.given import Given
from grader.measured import Measured
from grader.messages import message
from grader.spec import CheckSpec
from grader.verdict import Verdict

#: Characters of what a check printed that are kept.
MOST_PRINTED = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one check concluded about one submission."""

    id: str
    verdict: Verdict
    message: str = ""
    blocked_by: str | None = None
    output: str = ""
    is_output_cut: bool = False
    #: How far its answers are from the library's; nothing where it is blocked.
    measured: tuple[Measured, ...] = ()

    def to_metadata(self) -> dict[str, Any]:
        """What stands in the JSON report of the test."""
        measured = [one.model_dump() for one in self.measured]
        return dataclasses.asdict(dataclasses.replace(self, measured=())) | {"measured": measured}

    @staticmethod
    def of_metadata(fields: dict[str, Any]) -> "CheckResult":
        """What `to_metadata` wrote."""
        measured = tuple(Measured(**one) for one in fields["measured"])
        return CheckResult(**(fields | {"verdict": Verdict(fields["verdict"]), "measured": measured}))


_SPEC = pytest.StashKey[CheckSpec]()
_RESULT = pytest.StashKey[CheckResult]()


class CheckPlugin:
    """The checks of an assignment in a pytest session, put to one submission at a time."""

    def __init__(self, assignment: Assignment, examination: Examination | None = None) -> None:
        self._assignment = assignment
        self._current = examination
        self._verdicts: dict[str, Verdict] = {}
        self.specs: tuple[CheckSpec, ...] = ()

    def begin(self, examination: Examination) -> None:
        """From now on the checks are about this submission."""
        self._current = examination
        self._verdicts = {}

    def part_of(self, item: pytest.Item) -> str:
        """Name of the part that a collected check belongs to."""
        return item.stash[_SPEC].part

    @property
    def _examination(self) -> Examination:
        assert self._current is not None, "the checks run, and no submission was named"
        return self._current

    # --- collection -------------------------------------------------------------------------------------------

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "check(callable, points, requires, hint, title): a graded question")

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Visible checks first: nothing printed by a visible one can then come from a hidden one's inputs."""
        for item in items:
            item.stash[_SPEC] = self._spec_of(item)
        order = [part.name for part in self._assignment.parts]
        items.sort(key=lambda item: (not item.stash[_SPEC].is_visible, order.index(item.stash[_SPEC].part)))
        self.specs = tuple(item.stash[_SPEC] for item in items)

    def _spec_of(self, item: pytest.Item) -> CheckSpec:
        marker = item.get_closest_marker("check")
        if marker is None or not isinstance(item, pytest.Function):
            raise AssignmentError(
                f"{item.path}, {item.name}: a test without points; wanted the decorator of a check above it, such as "
                "@asked.check(points=1), where asked = Checks(NAME) names the callable"
            )
        return spec.read_spec(self._assignment, item.path, item.name, item.function.__doc__ or "", marker.kwargs)

    # --- fixtures ---------------------------------------------------------------------------------------------
    # They look at the check in hand rather than at pytest's `request`, which is slow to make and made for each test.

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self._check = item.stash[_SPEC]
        if _RESULT in item.stash:  # that of the submission before, which is not this one's when the check breaks
            del item.stash[_RESULT]

    @pytest.fixture
    def student(self) -> Student:
        """The callable of the student that the check is about."""
        return Student(self._examination, self._check.part, self._check.callable)

    @pytest.fixture
    def given(self) -> Given:
        """Seeded inputs."""
        return self._examination.inputs.scope(f"{self._check.part}/{'visible' if self._check.is_visible else 'hidden'}")

    # --- running ----------------------------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        """Run a check, note its verdict; a check whose prerequisites failed is blocked, whatever it found."""
        __tracebackhide__ = True
        check = pyfuncitem.stash[_SPEC]
        self._examination.begin_check(check.id, check.is_visible)
        try:
            yield
            failed = None
        except CheckFailed as error:
            failed = error
        except AssertionError as error:
            if not _is_raised_in(pyfuncitem.path, error):  # not the check's own claim: a fault of the grader
                raise
            claim = ClaimFailed(claim=str(error).partition("\n")[0])
            failed = CheckFailed(Verdict.WRONG_VALUE, claim, message(claim, None))
        prerequisite = self._first_failed(check)
        if prerequisite and not (failed and failed.verdict.rank < Verdict.BLOCKED.rank):
            fact = PrerequisiteFailed(title=prerequisite.title)
            failed = CheckFailed(Verdict.BLOCKED, fact, message(fact, None))
        self._note(pyfuncitem, check, failed, prerequisite)
        if failed:
            raise failed
        return True

    def _first_failed(self, check: CheckSpec) -> CheckSpec | None:
        # One that was not run, because only some checks were chosen, holds nothing up.
        failed = [one for one in check.requires if self._verdicts.get(one, Verdict.PASSED) is not Verdict.PASSED]
        return next((other for other in self.specs if other.id in failed), None)

    def _note(
        self, item: pytest.Item, check: CheckSpec, failed: CheckFailed | None, prerequisite: CheckSpec | None
    ) -> None:
        verdict = failed.verdict if failed else Verdict.PASSED
        self._verdicts[check.id] = verdict
        printed = self._examination.printed
        item.stash[_RESULT] = CheckResult(
            id=check.id,
            verdict=verdict,
            message=str(failed) if failed else "",
            blocked_by=_blocker(failed, prerequisite) if failed and verdict is Verdict.BLOCKED else None,
            output=printed.text[:MOST_PRINTED],
            is_output_cut=printed.is_cut or len(printed.text) > MOST_PRINTED,
            measured=() if verdict is Verdict.BLOCKED else tuple(self._examination.measured.values()),
        )

    # --- reporting --------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport | None:
        """The report of a failed check: its message, and no traceback, which is slow to make and tells nothing."""
        if call.when != "call" or call.excinfo is None or not isinstance(call.excinfo.value, CheckFailed):
            return None
        return pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="failed",
            longrepr=str(call.excinfo.value),
            when=call.when,
            duration=call.duration,
            start=call.start,
            stop=call.stop,
        )

    @pytest.hookimpl(optionalhook=True)
    def pytest_json_runtest_metadata(self, item: pytest.Item, call: pytest.CallInfo[None]) -> dict[str, Any]:
        """What goes into the JSON report of a test, once it has run."""
        if call.when != "call":
            return {}
        result = item.stash.get(_RESULT, None)
        return {"check": result.to_metadata()} if result else {"id": item.stash[_SPEC].id}


def _is_raised_in(file: Path, error: AssertionError) -> bool:
    """Whether an assertion is written in that file, rather than in what the file calls."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and Path(frames[-1].filename) == file


def _blocker(failed: CheckFailed, prerequisite: CheckSpec | None) -> str | None:
    """What to mend first: a file that this one imports, or a check."""
    if isinstance(failed.fact, BrokenNeighbour):
        return failed.fact.file
    return prerequisite.id if prerequisite else None
