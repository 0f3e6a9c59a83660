"""`grade post github REPORT` and `grade post canvas REPORT`."""

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.commands.ending import ending
from grader.show import for_logged_json, for_runner_log

if TYPE_CHECKING:
    from grader.post.outcome import Outcome

#: Something could not be sent.
NOT_ALL_SENT = 1
_report = click.argument("report", type=click.Path(path_type=Path))
_dry_run = click.option(
    "--dry-run", is_flag=True, help="Print what would be sent, and send nothing; needs no token and no network."
)


@click.group("post")
def command() -> None:
    """Post results to GitHub or Canvas. REPORT is report.json, or the folder it lies in.

    Running it again changes nothing that is as it should be. Tokens are read from the environment alone. Proxies and
    certificates: HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE.
    """


@command.command("github")
@_report
@click.option(
    "--student",
    metavar="ID",
    help="The submission, where the report has several: its id, or a person's name, address, login or number.",
)
@click.option("--repo", metavar="OWNER/NAME", help="The repository.  [default: GITHUB_REPOSITORY]")
@click.option("--pr", type=click.IntRange(min=1), help="The pull request.  [default: that of the workflow's event]")
@click.option("--sha", help="The commit that was graded.  [default: that of the event, or of the pull request]")
@click.option(
    "--path",
    "folder",
    default="",
    metavar="FOLDER",
    help="Where the submission lies in the repository, not at its top.",
)
@click.option("--name", help="Tells several results on one pull request apart.  [default: the assignment's name]")
@click.option(
    "--without",
    multiple=True,
    type=click.Choice(["comment", "check", "summary"]),
    help="Leave one out; may be given twice.",
)
@click.option("--url", help="GitHub's API.  [default: GITHUB_API_URL, or https://api.github.com]")
@_dry_run
def github(
    report: Path,
    student: str | None,
    repo: str | None,
    pr: int | None,
    sha: str | None,
    folder: str,
    name: str | None,
    without: tuple[str, ...],
    url: str | None,
    dry_run: bool,
) -> None:
    """Comment on a pull request, check its commit, and write the job's summary.

    One comment and one check of a name, brought up to date. In a workflow all options may be left out. The token is
    read from GITHUB_TOKEN or GH_TOKEN and needs the permissions `pull-requests: write` and `checks: write`; where a
    fork's token may not write, only the summary is written.

    Exit codes: 0 done, or the summary only; 1 something could not be sent; 2 wrong usage; 130 interrupted.
    """
    with _ending():
        from datetime import date

        from grader.people.chosen import choose_one
        from grader.post import github as post
        from grader.post.address import Address
        from grader.post.http import Client
        from grader.post.summary import VARIABLE
        from grader.post.target import folder_in_repository, read_target
        from grader.post.token import read_token
        from grader.report_file import read_report
        from grader.student_view import student_view

        run = read_report(report)
        submission = choose_one(run, [student] if student is not None else [])
        target = read_target(repo, pr, sha, os.environ)
        where = "--url" if url else "GITHUB_API_URL"
        address = Address.parse(url or os.environ.get("GITHUB_API_URL") or post.API, where)
        view = student_view(run, submission, run.assignment.feedback, date.today())
        posting = post.make_posting(view, name or run.assignment.name, folder_in_repository(folder))
        parts = tuple(part for part in post.PARTS if part not in without)
        if dry_run:
            for method, place, body in post.planned(address, target, posting, parts):
                _show(method, place, body)
            return
        token = read_token(post.TOKENS, os.environ)
        with Client(address, token, post.HEADERS) as client:
            outcomes = post.post(client, target, posting, parts, os.environ.get(VARIABLE, ""))
        for outcome in outcomes:
            _tell(outcome)
        _exit(outcomes)


@command.command("canvas")
@_report
@click.option("--url", metavar="URL", help="The school's Canvas, https://canvas.example.edu.  [default: CANVAS_URL]")
@click.option("--course", "course", required=True, metavar="ID", help="The number in .../courses/ID.")
@click.option("--assignment", required=True, metavar="ID", help="The number in .../assignments/ID.")
@click.option("--no-comments", is_flag=True, help="Send grades only.")
@click.option(
    "--any-points", is_flag=True, help="Send scores though the assignment there is out of another number of points."
)
@_dry_run
def canvas(
    report: Path, url: str | None, course: str, assignment: str, no_comments: bool, any_points: bool, dry_run: bool
) -> None:
    """Send final scores and comments to an assignment on Canvas; only what differs from what is there.

    Students without a score, and those whom Canvas has as excused, are left alone. Comments say what a student may see.
    The token is read from CANVAS_TOKEN: Account, Settings, New Access Token, as a teacher or TA of the course.

    Exit codes: 0 done; 1 something could not be sent (the others were); 2 wrong usage; 130 interrupted: run it again.
    """
    with _ending():
        from datetime import date

        from grader.post import canvas as post
        from grader.post.address import Address
        from grader.post.errors import WrongUse
        from grader.post.gradebook import Gradebook, Place
        from grader.post.http import Client
        from grader.post.outcome import Outcome
        from grader.post.token import read_token
        from grader.post.wanted import marker, wanted
        from grader.report_file import read_report

        run = read_report(report)
        if not (url or os.environ.get("CANVAS_URL")):
            raise WrongUse("--url: wanted the address of Canvas, such as https://canvas.example.edu; or set CANVAS_URL")
        address = Address.parse(url or os.environ["CANVAS_URL"], "--url" if url else "CANVAS_URL")
        place = Place.parse(course, assignment)
        tasks = wanted(run, date.today(), with_comments=not no_comments)
        outcomes: list[Outcome] = []
        tell = _both(outcomes.append, _tell)
        if dry_run:
            for task in tasks:
                if isinstance(task, Outcome):
                    tell(task)
                else:
                    _show(*post.planned(address, place, task))
            _exit(outcomes)
        token = read_token(post.TOKENS, os.environ)
        max_score = None if any_points else run.assignment.max_score
        with Client(address, token, post.HEADERS) as client:
            book = Gradebook(client, place, marker(run))
            post.post(client, book, tasks, max_score, tell)
        _count(outcomes)
        _exit(outcomes)


def _ending() -> AbstractContextManager[None]:
    """Errors may quote a server or a student, and a runner reads what is printed."""
    return ending(
        interrupted="interrupted; what was sent stays, and running this again goes on from there", shown=for_runner_log
    )


def _tell(outcome: "Outcome") -> None:
    click.echo(f"{outcome.state:<10} {for_runner_log(outcome.what)}: {for_runner_log(outcome.text)}")


def _show(method: str, place: str, body: object) -> None:
    """One request, as `--dry-run` prints it. No line of it is a command to a runner, whatever the body holds."""
    import json

    click.echo(f"{method} {for_runner_log(place)}")
    click.echo(for_logged_json(json.dumps(body, indent=2, ensure_ascii=False)))


def _count(outcomes: "list[Outcome]") -> None:
    from grader.post.outcome import State

    counts = [(state, sum(outcome.state is state for outcome in outcomes)) for state in State]
    click.echo(", ".join(f"{count} {state}" for state, count in counts if count) or "no students")


def _both(*tellers: "Callable[[Outcome], object]") -> "Callable[[Outcome], None]":
    def tell(outcome: "Outcome") -> None:
        for one in tellers:
            one(outcome)

    return tell


def _exit(outcomes: "list[Outcome]") -> None:
    from grader.post.outcome import State

    sys.exit(NOT_ALL_SENT if any(outcome.state is State.FAILED for outcome in outcomes) else 0)
