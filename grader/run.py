"""One run of `grade`: from a folder of submissions to a folder of reports.

Finds, begins or resumes, grades, publishes. Every fault a user can cause is raised as `RunError`, with its exit code.
What needs no torch is imported and settled first: a wrong word costs no seconds, and the zygote imports its torch
while this process imports its own.
"""

import os
import platform
import secrets
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path

from grader import __version__, report
from grader.assignment import Assignment, AssignmentError
from grader.course import Course, CourseError, find_course
from grader.find import FindError, Found, file_names, find_submissions, unread_archives
from grader.launch import ONE_THREAD, LaunchError, Zygote, can_fork
from grader.publish import publish_class, publish_submission
from grader.render.overview import Overview
from grader.report import Isolation, RunHeader, Status, Submission
from grader.report_json import ReportError
from grader.stage import file_digest, stage
from grader.store import Earlier, Store, StoreError
from grader.terminal import Screen

ISOLATION_DETAIL = (
    "Students' code runs in processes of its own with resource limits, but without a sandbox of the operating "
    "system: it can read what you can read."
)

#: Exit codes of `grade`.
GRADED, SOME_UNGRADED, USAGE, BELOW, INTERRUPTED = 0, 1, 2, 4, 130


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
    fail_under: Decimal | None


def run(options: Options, screen: Screen) -> int:
    """Grade, and return the exit code.

    Raises:
        RunError: wrong usage, an invalid assignment, or an output folder that cannot be written.
    """
    try:
        return _run(options, screen)
    except (AssignmentError, CourseError, FindError, StoreError, ReportError, LaunchError) as error:
        raise RunError(str(error)) from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else f"{options.out}: "
        raise RunError(
            f"{where}{error.strerror}; what was finished is kept: put it right and run again with --resume"
        ) from None


def _run(options: Options, screen: Screen) -> int:
    course = find_course(options.course or Path.cwd())
    assignment, found = _choose(options, course)
    store = Store(options.out)
    earlier = _earlier(options, store)
    usual_s = earlier.header.timeout_s if earlier else assignment.limits.call_s
    header = _header(assignment, _seed(options, earlier), options.call_s or usual_s)
    if earlier:
        _must_match(earlier.header, header)
        header = earlier.header
    kept, todo = _split(options, assignment, found, earlier)
    screen.banner(header, len(todo), options.jobs)
    for name in unread_archives(options.folder):
        screen.say(f"{name} is not graded: it is no folder; unpack it first")
    if options.is_resumed:
        screen.say(f"{len(kept)} are kept from the earlier run")
    store.begin(header, kept)
    if todo:
        jobs = min(options.jobs, len(todo))
        with Zygote(jobs, assignment.rules.forbidden) if can_fork() else nullcontext() as zygote:
            _grade(course, assignment, header, todo, zygote, store, screen)
    return _exit_code(options, _finish(store, header, screen))


def _grade(
    course: Course,
    assignment: Assignment,
    header: RunHeader,
    todo: list[Found],
    zygote: Zygote | None,
    store: Store,
    screen: Screen,
) -> None:
    os.environ.update(ONE_THREAD)  # read when numpy and torch are imported; examiners are forked from this process
    from grader.grade import Grading, with_grading  # these import torch: see above
    from grader.pool import grade_all

    def publish(grading: Grading) -> None:
        with screen.progress(len(todo)) as count:
            for submission in grade_all(grading, todo, zygote):
                publish_submission(store, header, submission, header.created.date())
                store.add(submission)
                count.step()

    with_grading(course, assignment, header.seed, publish, header.timeout_s)


def _choose(options: Options, course: Course) -> tuple[Assignment, list[Found]]:
    """The assignment, and the submissions there are of it."""
    if options.assignment:
        assignment = course.assignment(options.assignment)
        return assignment, _find(options, assignment.files)
    known = [file for name in course.names for file in course.assignment(name).files]
    found = _find(options, known)
    return course.assignment_for(file_names(found)), found


def _find(options: Options, files: Sequence[str]) -> list[Found]:
    folder, out = options.folder, options.out.resolve()
    if folder.is_dir() and out.is_relative_to(folder.resolve()) and out != folder.resolve() and not options.only:
        raise RunError(
            f"{options.out} lies in {folder}, where it would be taken for a submission; choose another folder with -o"
        )
    return find_submissions(folder, files, options.only)


def _earlier(options: Options, store: Store) -> Earlier | None:
    """What an earlier run left, when it is to be continued. A new run never silently replaces an old one."""
    store.must_be_usable()
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


def _header(assignment: Assignment, seed: int, timeout_s: float) -> RunHeader:
    feedback = report.Feedback(
        level=report.FeedbackLevel(assignment.feedback.level), full_from=assignment.feedback.full_from
    )
    return RunHeader(
        created=datetime.now(UTC),
        seed=seed,
        timeout_s=timeout_s,
        assignment=report.Assignment(
            name=assignment.name,
            title=assignment.title,
            max_score=assignment.max_score,
            digest=assignment.digest,
            feedback=feedback,
        ),
        grader=report.Grader(
            version=__version__,
            python=platform.python_version(),
            torch=version("torch"),
            isolation=Isolation.NONE,
            isolation_detail=ISOLATION_DETAIL,
        ),
    )


def _must_match(earlier: RunHeader, now: RunHeader) -> None:
    """One report, one set of checks and versions: entries that cannot be compared do not stand side by side."""
    pairs = [
        ("assignment", earlier.assignment.name, now.assignment.name),
        ("digest of the assignment", earlier.assignment.digest[:12], now.assignment.digest[:12]),
        ("grader", earlier.grader.version, now.grader.version),
        ("Python", earlier.grader.python, now.grader.python),
        ("torch", earlier.grader.torch, now.grader.torch),
        ("limit of a call", f"{earlier.timeout_s:g} s", f"{now.timeout_s:g} s"),
    ]
    different = [f"{name} {old}, now {new}" for name, old, new in pairs if old != new]
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
        row.score is not None and 100 * row.score < limit * row.max_score for row in overview.rows
    ):
        return BELOW
    return GRADED
