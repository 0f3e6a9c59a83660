"""One run of `grade`: from a folder of submissions to a folder of reports.

Finds, begins or resumes, grades, publishes. Every fault a user can cause is raised as `RunError`, with its exit code.
What needs no torch is imported and settled first: a wrong word costs no seconds, and the zygote imports its torch
while this process imports its own.
"""

import os
import secrets
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from grader import interrupt
from grader.assignment import Assignment, AssignmentError
from grader.course import Course, CourseError, find_course
from grader.final import Finals, finals_of
from grader.find import FindError, Found, find_submissions, unread_archives
from grader.header import continued, make_header
from grader.intake import IntakeError, file_names
from grader.launch import ONE_THREAD, ForkLauncher, LaunchError, SpawnLauncher, Zygote, can_fork
from grader.means import different_means
from grader.overrides import OverrideError
from grader.publish import publish_class, publish_submission
from grader.render.overview import Overview
from grader.report import Isolation, RunHeader, Status, Submission
from grader.report_json import ReportError
from grader.sheet import SheetError
from grader.stage import file_digest, stage
from grader.store import Earlier, Store, StoreError
from grader.terminal import Screen
from grader.worker.sandbox.privileges import hide_memory

#: Exit codes of `grade`; one that was interrupted has that of its signal.
GRADED, SOME_UNGRADED, USAGE, NOT_ISOLATED, BELOW = 0, 1, 2, 3, 4
_USERS_FAULTS = (
    AssignmentError,
    CourseError,
    FindError,
    IntakeError,
    LaunchError,
    OverrideError,
    ReportError,
    SheetError,
    StoreError,
)


class RunError(Exception):
    """The run cannot go on; the text says where, what was found, what was wanted, what to do."""

    def __init__(self, text: str, exit_code: int = USAGE) -> None:
        super().__init__(text)
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line asks for."""

    folder: Path
    assignment: str | None
    course: Path | None
    out: Path
    jobs: int
    seed: int | None
    only: str | None
    is_resumed: bool
    is_forced: bool
    call_s: float | None
    #: What staff decided; `overrides.csv` in the folder of the reports, if there is one, where none is named.
    overrides: Path | None
    fail_under: Decimal | None
    #: Whether to grade with the strongest isolation there is, instead of refusing what is less than strong.
    is_any_isolation_enough: bool


def run(options: Options, screen: Screen) -> int:
    """Grade, and return the exit code.

    Raises:
        RunError: wrong usage, an invalid assignment, or an output folder that cannot be written.
    """
    hide_memory()  # there are answers in it, and tokens in its environment
    store = Store(options.out)
    try:
        return _run(options, store, screen)
    except _USERS_FAULTS as error:
        raise RunError(str(error)) from None
    except OSError as error:
        what_to_do = (
            "what was finished is kept: put it right and run again with --resume"
            if store.is_used
            else "nothing has been graded; put it right and run again"
        )
        raise RunError(f"{error.filename or options.out}: {error.strerror}; {what_to_do}") from None


def _run(options: Options, store: Store, screen: Screen) -> int:
    course = find_course(options.course or Path.cwd())
    assignment, found = _choose(options, course)
    store.must_be_usable()
    with store.locked():
        return _grade_into(store, options, course, assignment, found, screen)


def _grade_into(
    store: Store, options: Options, course: Course, assignment: Assignment, found: list[Found], screen: Screen
) -> int:
    earlier = _earlier(options, store)
    usual_s = earlier.header.timeout_s if earlier else assignment.limits.call_s
    header = make_header(assignment, _seed(options, earlier), options.call_s or usual_s)
    if earlier:
        _must_match(earlier.header, header)
        header = continued(earlier.header, header)
    kept, todo = _split(options, assignment, found, earlier)
    finals = finals_of(store, options.overrides, assignment, [*kept, *todo], screen)
    screen.banner(header, len(todo), options.jobs)
    for name, reason in unread_archives(options.folder, found).items():
        screen.say(f"{name} is not graded: {reason}")
    if options.is_resumed:
        screen.say(f"{len(kept)} are kept from the earlier run")
    if todo:
        jobs = min(options.jobs, len(todo))
        with Zygote(jobs, assignment.rules) if can_fork() else nullcontext() as zygote:
            work = _Work(course, assignment, header, earlier, kept, todo, finals)
            header = _grade(options, work, zygote, store, screen)
    else:
        checks = {check.id: check.max_score for entry in kept for check in entry.checks}
        finals.begin(store, header, earlier, kept, checks)
    return _exit_code(options, _finish(store, header, screen))


class _Work(NamedTuple):
    """What one run is to do."""

    course: Course
    assignment: Assignment
    header: RunHeader
    earlier: Earlier | None
    kept: list[Submission]
    todo: list[Found]
    finals: Finals


def _grade(options: Options, work: _Work, zygote: Zygote | None, store: Store, screen: Screen) -> RunHeader:
    """Grade what is to do; returns the header, in which the isolation is now known."""
    os.environ.update(ONE_THREAD)  # read when numpy and torch are imported; examiners are forked from this process
    from grader.grade import Grading, with_grading  # these import torch: see above
    from grader.isolation import Kept, kept, probe
    from grader.pool import grade_all

    def isolation() -> Kept:
        if zygote is None:
            return kept(probe(SpawnLauncher(), {}), {})
        zygote.wait()
        return kept(probe(ForkLauncher(zygote.controls[0]), zygote.layers), zygote.layers)

    def publish(grading: Grading) -> RunHeader:
        interrupt.raise_if_stopped()  # what pytest and torch import may have caught it
        found = isolation()
        header = _isolated(options, work, found.level, found.detail)
        screen.isolation(header.grader)
        checks = {spec.id: spec.points for spec in grading.checking.specs}
        work.finals.begin(store, header, work.earlier, work.kept, checks)
        with screen.progress(len(work.todo)) as count:
            for graded in grade_all(grading, work.todo, zygote):
                submission = work.finals.of(graded)
                publish_submission(store, header, submission, header.created.date())
                store.add(submission)
                count.step()
                interrupt.raise_if_stopped()
        return header

    return with_grading(work.course, work.assignment, work.header.seed, publish, work.header.timeout_s)


def _isolated(options: Options, work: _Work, level: Isolation, detail: str) -> RunHeader:
    """The header, with the isolation that was found.

    Raises:
        RunError: it is less than was asked for, or another than in the report that is continued.
    """
    if level is not Isolation.STRONG and not options.is_any_isolation_enough:
        raise RunError(
            f"isolation is {level}, wanted strong. {detail} `grade doctor` shows each layer; with --isolation best the "
            "run goes on with what there is, and every report says so",
            NOT_ISOLATED,
        )
    if work.earlier and work.earlier.header.grader.isolation is not level:
        raise RunError(
            f"the earlier report was made with isolation {work.earlier.header.grader.isolation}, and here it is "
            f"{level}; grade everything again with --force"
        )
    grader = work.header.grader.model_copy(update={"isolation": level, "isolation_detail": detail})
    return work.header.model_copy(update={"grader": grader})


def _choose(options: Options, course: Course) -> tuple[Assignment, list[Found]]:
    """The assignment, and the submissions there are of it."""
    if options.assignment:
        assignment = course.assignment(options.assignment)
        return assignment, _find(options, assignment.files)
    asked: dict[str, set[str]] = {}
    for name in course.names:
        for part in course.assignment(name).parts:
            asked.setdefault(part.file, set()).update(part.callables)
    found = _find(options, list(asked))
    return course.assignment_for(file_names(found, asked)), found


def _find(options: Options, files: Sequence[str]) -> list[Found]:
    folder, out = options.folder, options.out.resolve()
    if folder.is_dir() and out.is_relative_to(folder.resolve()) and out != folder.resolve() and not options.only:
        raise RunError(
            f"{options.out} lies in {folder}, where it would be taken for a submission; choose another folder with -o"
        )
    return find_submissions(folder, files, options.only)


def _earlier(options: Options, store: Store) -> Earlier | None:
    """What an earlier run left, when it is to be continued. A new run never silently replaces an old one."""
    if not store.is_used or (options.is_forced and not options.is_resumed and not options.only):
        return None
    if options.is_resumed or options.only:
        return store.earlier()
    raise RunError(
        f"{store.folder} holds the report of an earlier run; go on from it with --resume, replace it with --force, "
        "or write elsewhere with -o"
    )


def _seed(options: Options, earlier: Earlier | None) -> int:
    if earlier is None:
        return options.seed if options.seed is not None else secrets.randbits(32)
    if options.seed is not None and options.seed != earlier.header.seed:
        raise RunError(
            f"{options.out} was graded with seed {earlier.header.seed}, not {options.seed}; leave --seed out to go on "
            "with it, or start afresh with --force"
        )
    return earlier.header.seed


def _must_match(earlier: RunHeader, now: RunHeader) -> None:
    """One report, one set of checks and versions: entries that cannot be compared do not stand side by side."""
    different = [str(one) for one in different_means(earlier, now)]
    if different:
        raise RunError(
            f"the earlier report was made with other means ({'; '.join(different)}); grade everything again "
            "with --force"
        )


def _split(
    options: Options, assignment: Assignment, found: list[Found], earlier: Earlier | None
) -> tuple[list[Submission], list[Found]]:
    """Entries to keep, and submissions to grade: those that are new, changed, unfinished, or asked for by name."""
    if earlier is None:
        return [], found
    ids = {one.id for one in found}
    kept = [entry for entry in earlier.submissions.values() if entry.id not in ids]
    if not options.is_resumed:
        return kept, found
    todo = []
    for one in found:
        entry = earlier.submissions.get(one.id)
        if (
            entry
            and entry.status is not Status.GRADER_ERROR
            and file_digest(entry.files) == stage(one, assignment).digest
        ):
            kept.append(entry)
        else:
            todo.append(one)
    return kept, todo


def _finish(store: Store, header: RunHeader, screen: Screen) -> Overview:
    store.finish(header)
    overview = publish_class(store, header, store.submissions())
    store.clear_journal()
    screen.result(overview, store)
    return overview


def _exit_code(options: Options, overview: Overview) -> int:
    if any(row.status is not Status.GRADED for row in overview.rows):
        return SOME_UNGRADED
    limit = options.fail_under
    if limit is not None and any(
        row.final_score is not None and 100 * row.final_score < limit * row.max_score for row in overview.rows
    ):
        return BELOW
    return GRADED
