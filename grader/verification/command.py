"""The command `grade verify`: which assignments, and the table it prints."""

import os
from pathlib import Path

import click

from grader.assignment import Assignment, AssignmentError
from grader.course import Course, CourseError, find_course
from grader.launch import ONE_THREAD, LaunchError
from grader.show import for_terminal
from grader.verification.claims import Claim
from grader.verification.forked import ForkFailed

#: Exit codes.
HOLDS, FAILS, USAGE = 0, 1, 2
#: Complaints of one claim that are printed.
_MOST_COMPLAINTS = 20


def verify_all(start: Path, name: str | None, seed: int, only: str | None = None) -> int:
    """Verify the assignment of that name, or all of the course that `start` lies in; returns the exit code.

    `only`: a glob of ids of mistakes; then these are tried and nothing else.
    """
    os.environ.update(ONE_THREAD)  # read when numpy and torch are imported
    try:
        course = find_course(start)
        assignments = [course.assignment(one) for one in ([name] if name else course.names)]
        if not assignments:
            raise CourseError(f"{course.folder / 'assignments'} holds no assignment")
        return max(_verify(course, one, seed, only) for one in assignments)
    except (AssignmentError, CourseError, ForkFailed, LaunchError) as error:
        click.echo(for_terminal(f"grade: {error}"), err=True)
        return USAGE


def _verify(course: Course, assignment: Assignment, seed: int, only: str | None) -> int:
    from grader.verification.verify import verify  # imports torch

    click.echo(f"{assignment.name}, seed {seed}")
    claims: list[Claim] = []

    def tell(claim: Claim) -> None:
        claims.append(claim)
        _print(claim)

    verify(course, assignment, seed, tell, lambda text: click.echo(f"  ... {text}", err=True), only)
    failed = [claim for claim in claims if not claim.holds]
    click.echo(f"  {len(failed)} of {len(claims)} claims do not hold" if failed else "  everything holds")
    return FAILS if failed else HOLDS


def _print(claim: Claim) -> None:
    mark = ("✓" if claim.tried else "–") if claim.holds else "✗"
    wanted = f" (wanted {claim.wanted:.0%})" if claim.wanted < 1 else ""
    detail = f": {claim.detail}" if claim.detail else ""
    click.echo(f"  {mark} {claim.held:>4} of {claim.tried:<4} {claim.title}{wanted}{detail}")
    for complaint in claim.complaints[:_MOST_COMPLAINTS]:
        click.echo(f"      {complaint}")
    if len(claim.complaints) > _MOST_COMPLAINTS:
        click.echo(f"      ... and {len(claim.complaints) - _MOST_COMPLAINTS} more")
