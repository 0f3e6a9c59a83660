"""One run of `grade`: from a folder of submissions to a folder of reports.

Finds, begins or resumes, grades, publishes. Whatever a user can put right is raised as a `Fault`, with its exit code.
What needs no torch is imported and settled first: a wrong word costs no seconds, and the zygote imports its torch
while this process imports its own.
"""

import os
import secrets
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from grader import interrupt
from grader.assignment import Assignment
from grader.course import Course, find_course
from grader.fault import Fault
from grader.final import Finals, finals_of
from grader.find import Found, matching
from grader.header import continued, make_header
from grader.launch import ONE_THREAD, ForkLauncher, SpawnLauncher, Zygote, can_fork
from grader.publish import publish_class, publish_submission
from grader.render.overview import Overview
from grader.report import Isolation, RunHeader, Status, Submission
from grader.resume import earlier_report, gone, must_match, seed_of, split
from grader.roll import Roll, call_roll, head, sign
from grader.store import Earlier, Store
from grader.terminal import Screen
from grader.which import assignment_of
from grader.worker.sandbox.privileges import hide_memory

if TYPE_CHECKING:
    from grader.isolation import Kept

#: Exit codes of `grade`; one that was interrupted has that of its signal.
GRADED, SOME_UNGRADED, USAGE, NOT_ISOLATED, BELOW = 0, 1, 2, 3, 4


class RunError(Fault):
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
    #: Whether to grade with the strongest isolation there is, instead of refusing what is less than strong.
    is_any_isolation_enough: bool
    #: A CSV file with the people of the class.
    roster: Path | None = None
    #: A CSV file with what staff decided; None: that in the output folder, if there is one.
    overrides: Path | None = None
    #: Whether `folder` is one student's, whatever lies in it.
    is_single: bool = False


def run(options: Options, screen: Screen) -> int:
    """Grade, and return the exit code.

    Raises:
        Fault: wrong usage, an invalid assignment, or an output folder that cannot be written.
    """
    hide_memory()  # there are answers in it, and tokens in its environment
    store = Store(options.out)
    try:
        return _run(options, store, screen)
    except OSError as error:
        what_to_do = (
            "what was finished is kept: put it right and run again with --resume"
            if store.is_used
            else "nothing has been graded; put it right and run again"
        )
        raise RunError(f"{error.filename or options.out}: {error.strerror}; {what_to_do}") from None


def _run(options: Options, store: Store, screen: Screen) -> int:
    course = _course(options)
    _must_lie_outside(options)
    name = options.assignment
    asked = course.asked(name) if name else course.asked()
    with call_roll(options.folder, list(asked), options.roster, is_single=options.is_single) as roll:
        found = matching(roll.submissions, options.only, options.folder)
        assignment = course.assignment(name) if name else assignment_of(course, found, asked)
        store.must_be_usable()
        with store.locked():
            return _grade_into(store, options, course, assignment, found, roll, screen)


def _grade_into(
    store: Store,
    options: Options,
    course: Course,
    assignment: Assignment,
    found: list[Found],
    roll: Roll,
    screen: Screen,
) -> int:
    is_continued = options.is_resumed or options.only is not None
    earlier = earlier_report(store, is_continued=is_continued, is_replaced=options.is_forced)
    header = _header(options, assignment, earlier)
    kept, todo = split(found, assignment, earlier, is_resumed=options.is_resumed)
    kept = [sign(entry, roll.by_id) for entry in kept]
    work = _Work(
        course=course,
        assignment=assignment,
        header=head(header, roll, gone(earlier, roll.by_id)),
        earlier=earlier,
        kept=kept,
        todo=todo,
        roll=roll,
        finals=finals_of(store, options.overrides, assignment, [*kept, *todo], screen),
    )
    screen.handed_in(work.header, roll.remarks)
    screen.banner(header, len(todo), options.jobs)
    if options.is_resumed:
        screen.say(f"{len(kept)} are kept from the earlier run")
    if todo:
        jobs = min(options.jobs, len(todo))
        with Zygote(jobs, assignment.rules) if can_fork() else nullcontext() as zygote:
            header = _grade(options, work, zygote, store, screen)
    else:
        header = work.header
        checks = {check.id: check.max_score for entry in kept for check in entry.checks}
        work.finals.begin(store, header, earlier, kept, checks, date.today())
    return _exit_code(options, _finish(store, header, screen))


class _Work(NamedTuple):
    """What one run is to do."""

    course: Course
    assignment: Assignment
    header: RunHeader
    earlier: Earlier | None
    #: Entries of the earlier report, with what is now known of whose they are.
    kept: list[Submission]
    todo: list[Found]
    roll: Roll
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
        header = _isolated(options, work, found)
        screen.isolation(header.grader)
        checks = {spec.id: spec.points for spec in grading.checking.specs}
        today = date.today()
        work.finals.begin(store, header, work.earlier, work.kept, checks, today)
        with screen.progress(len(work.todo)) as count:
            for graded in grade_all(grading, work.todo, zygote):
                submission = work.finals.of(sign(graded, work.roll.by_id))
                publish_submission(store, header, submission, today)
                store.add(submission)
                count.step()
                interrupt.raise_if_stopped()
        return header

    return with_grading(work.course, work.assignment, work.header.seed, publish, work.header.timeout_s)


def _isolated(options: Options, work: _Work, found: "Kept") -> RunHeader:
    """The header, with the isolation that was found.

    Raises:
        RunError: it is less than was asked for, or another than in the report that is continued.
    """
    if found.level is not Isolation.STRONG and not options.is_any_isolation_enough:
        raise RunError(found.refusal, NOT_ISOLATED)
    if work.earlier and work.earlier.header.grader.isolation is not found.level:
        raise RunError(
            f"the earlier report was made with isolation {work.earlier.header.grader.isolation}, and here it is "
            f"{found.level}; grade everything again with --force"
        )
    grader = work.header.grader.model_copy(update={"isolation": found.level, "isolation_detail": found.detail})
    return work.header.model_copy(update={"grader": grader})


def _course(options: Options) -> Course:
    """The course that was named, or the one around. Its checks and reference run in this process."""
    course = find_course(options.course or Path.cwd())
    if options.course is None and course.folder.is_relative_to(options.folder.resolve()):
        raise RunError(
            f"the course that was found, {course.folder}, lies in {options.folder}, where a student may have put it; "
            "work in the folder of your course, or name it with --course"
        )
    return course


def _must_lie_outside(options: Options) -> None:
    """Reports among the submissions would be graded next time."""
    folder, out = options.folder, options.out.resolve()
    if folder.is_dir() and out.is_relative_to(folder.resolve()) and out != folder.resolve() and not options.only:
        raise RunError(
            f"{options.out} lies in {folder}, where it would be taken for a submission; choose another folder with -o"
        )


def _header(options: Options, assignment: Assignment, earlier: Earlier | None) -> RunHeader:
    """The earlier run's header where it goes on, else a new one."""
    if earlier is None:
        seed = options.seed if options.seed is not None else secrets.randbits(32)
        return make_header(assignment, seed, options.call_s or assignment.limits.call_s)
    seed = seed_of(earlier, options.seed, options.out)
    now = make_header(assignment, seed, options.call_s or earlier.header.timeout_s)
    must_match(earlier.header, now, has_roster=options.roster is not None)
    return continued(earlier.header, now)


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
