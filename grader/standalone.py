"""Checks as ordinary tests: what `pytest CHECKS --submission FOLDER` needs, set up and torn down with the session."""

from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import pytest

from grader.assignment import AssignmentError, read_assignment
from grader.conversation import Conversation, TimeLimits
from grader.course import CourseError, find_course
from grader.examination import Examination
from grader.find import Found, find_file, find_folder
from grader.given import Inputs
from grader.intake import IntakeError
from grader.launch import ForkLauncher, LaunchError, SpawnLauncher, Zygote, can_fork
from grader.oracle import Oracle, OracleError
from grader.plugin import CheckPlugin
from grader.stage import stage
from grader.worker.sandbox.privileges import hide_memory


def register(config: pytest.Config, submission: str, seed: int | None) -> None:
    """Start a worker for the submission and register the checks' plugin.

    Raises:
        pytest.UsageError: no checks, no course or no submission; the text says which.
    """
    hide_memory()
    place = Path(submission)
    found = find_folder(place) if place.is_dir() else find_file(place)
    if found is None:
        raise pytest.UsageError(
            f"--submission {submission}: no such folder; wanted one student's folder, archive or notebook"
        )
    try:
        examination, stack = _examination(_assignment_folder(config), found, seed)
    except (AssignmentError, CourseError, OracleError, LaunchError, IntakeError) as error:
        raise pytest.UsageError(str(error)) from None
    config.add_cleanup(stack.close)
    config.pluginmanager.register(CheckPlugin(examination.assignment, examination), "grader-checks")
    config.pluginmanager.register(_FaultsInWords(), "grader-faults")


class _FaultsInWords:
    """What is wrong with a check's own mark ends the session in a line, not in a traceback through pytest."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self) -> Generator[None, None, None]:
        try:
            return (yield)
        except AssignmentError as error:
            raise pytest.UsageError(str(error)) from None


def _examination(folder: Path, found: Found, seed: int | None) -> tuple[Examination, ExitStack]:
    assignment = read_assignment(folder)
    inputs = Inputs(assignment.published_seed if seed is None else seed)
    oracle = Oracle(find_course(folder).reference, assignment, inputs)
    oracle.must_have_all()
    staged = stage(found, assignment)
    stack = ExitStack()
    launcher: ForkLauncher | SpawnLauncher = SpawnLauncher(assignment.rules)
    if can_fork():
        zygote = stack.enter_context(Zygote(1, assignment.rules))
        zygote.wait()
        launcher = ForkLauncher(zygote.controls[0])
    limits = TimeLimits.of(assignment.limits)
    conversation = stack.enter_context(Conversation(launcher, staged.sources.texts, assignment, limits))
    return Examination(assignment, inputs, oracle, conversation, staged.sources), stack


def _assignment_folder(config: pytest.Config) -> Path:
    """The assignment whose checks are named on the command line."""
    for argument in config.args:
        path = Path(argument.partition("::")[0]).resolve()
        for folder in (path, *path.parents):
            if folder.name == "checks":
                return folder.parent
    raise pytest.UsageError("--submission needs the checks: pytest assignments/NAME/checks --submission FOLDER")
