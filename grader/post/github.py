"""A result on GitHub: the comment of a pull request, the check of its commit, the summary of the job.

The three do not depend on each other: one that is refused is explained, and the others are posted all the same. A
workflow of a pull request from a fork has a token that only reads; there the summary is all there can be, and that
is no failure.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.post.address import Address
from grader.post.annotations import MOST, annotations
from grader.post.check_run import MOST_BYTES as MOST_CHECK_BYTES
from grader.post.check_run import CheckRun, keep_check_run, requests
from grader.post.comment import MOST_BYTES as MOST_COMMENT_BYTES
from grader.post.comment import keep_comment, marker, writer
from grader.post.errors import PostError, Refused
from grader.post.fit import fit
from grader.post.http import Client
from grader.post.outcome import Outcome, State
from grader.post.summary import VARIABLE, append_summary
from grader.post.target import Target
from grader.report import Status
from grader.student_records import StudentView
from grader.told.markdown import LEFT_OUT, pieces
from grader.told.paragraphs import title
from grader.verdict import Verdict

API = "https://api.github.com"
TOKENS = ("GITHUB_TOKEN", "GH_TOKEN")
HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
PARTS = ("comment", "check", "summary")
ONLY_SUMMARY = (
    "> Only this summary was posted: the token of this run may read and not write, as for a pull request from a fork."
)
#: What GitHub says to a workflow's token that lacks a permission.
_LACKS_PERMISSION = "not accessible by integration"
_PERMISSIONS = {"comment": "pull-requests: write", "check": "checks: write"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """What is posted, whatever is there already."""

    name: str
    title: str
    #: Markdown, the most important first.
    pieces: tuple[str, ...]
    check: CheckRun

    @property
    def comment(self) -> str:
        """The whole comment, its marker first."""
        return fit([marker(self.name), *self.pieces], MOST_COMMENT_BYTES, LEFT_OUT)


def make_posting(view: StudentView, name: str, folder: str) -> Posting:
    """Make what is posted of a student's view.

    Args:
        view: the student's.
        name: tells this result from others of the same pull request and commit; usually the assignment's name.
        folder: where the submission lies in the repository.
    """
    remarks = annotations(view, folder)
    made = tuple(pieces(view))
    told = f"Only {MOST} of {len(remarks)} remarks at lines are shown." if len(remarks) > MOST else ""
    check = CheckRun(
        name=f"grade: {name}",
        sha="",
        external_id=f"grade: {name}",
        conclusion=_conclusion(view),
        title=title(view),
        summary=fit([*made, *([told] if told else [])], MOST_CHECK_BYTES, LEFT_OUT),
        annotations=remarks[:MOST],
    )
    return Posting(name=name, title=title(view), pieces=made, check=check)


def _conclusion(view: StudentView) -> str:
    """The grader's own fault is no failure of the student's."""
    if view.status is Status.GRADER_ERROR or any(check.verdict is Verdict.GRADER_ERROR for check in view.checks):
        return "neutral"
    is_well = view.status is Status.GRADED and all(check.verdict is Verdict.PASSED for check in view.checks)
    return "success" if is_well else "failure"


def locate(client: Client, target: Target) -> Target:
    """Look up what is not known of a target: a commit by its pull request, or a pull request by its branch.

    Raises:
        PostError: the pull request is not there, or may not be seen.
    """
    path = f"/repos/{target.repository}/pulls"
    if target.pull is not None and target.sha is None:
        head = client.get(f"{path}/{target.pull}").mapping().get("head")
        sha = head.get("sha") if isinstance(head, dict) else None
        return replace(target, sha=sha if isinstance(sha, str) else None)
    if target.pull is None and target.head is not None:
        for pull in client.pages(path, state="open", head=target.head):
            head, number = pull.get("head"), pull.get("number")
            if isinstance(head, dict) and head.get("sha") == target.sha and isinstance(number, int):
                return replace(target, pull=number)
    return target


def post(client: Client, target: Target, posting: Posting, parts: tuple[str, ...], summary: str) -> list[Outcome]:
    """Post a result, each part by itself.

    Args:
        client: GitHub's API.
        target: where.
        posting: what.
        parts: which of `PARTS`.
        summary: the file that a runner names for the summary of the step; empty where there is none.
    """
    outcomes: list[Outcome] = []
    wanted = [part for part in PARTS if part in parts and part != "summary"]
    try:
        if wanted:
            found = locate(client, target)
            login = writer(client)
            send = {"comment": _comment, "check": _check}
            outcomes += [_tried(part, found, send[part], client, posting, login) for part in wanted]
    except PostError as error:
        outcomes += [_failure(part, target, error) for part in wanted]
    if "summary" in parts:
        states = {outcome.state for outcome in outcomes}
        is_alone = State.READ_ONLY in states and states <= {State.READ_ONLY, State.LEFT_ALONE}
        outcomes.append(_summary(posting, summary, is_alone))
    return outcomes


def planned(base: Address, target: Target, posting: Posting, parts: tuple[str, ...]) -> list[tuple[str, str, Any]]:
    """Method, address and body of what would be sent where nothing is there yet."""
    found: list[tuple[str, str, Any]] = []
    pull = target.pull if target.pull is not None else f"(of {target.head})" if target.head else None
    if "comment" in parts and pull is not None:
        found.append(("POST", f"{base}/repos/{target.repository}/issues/{pull}/comments", {"body": posting.comment}))
    if "check" in parts:
        check = replace(posting.check, sha=target.sha or f"(head of pull request {target.pull})")
        made = requests(target.repository, check)
        found += [(method, f"{base}{path}", body) for method, path, body in made]
    if "summary" in parts:
        found.append(("APPEND", f"${VARIABLE}", fit(posting.pieces, 2**20, LEFT_OUT)))
    return found


_Send = Callable[[Client, Target, Posting, str], Outcome]


def _comment(client: Client, target: Target, posting: Posting, login: str) -> Outcome:
    if target.pull is None:
        text = "there is no open pull request with this commit"
        return Outcome(what="comment", state=State.LEFT_ALONE, text=text)
    done = keep_comment(client, target.repository, target.pull, posting.comment, marker(posting.name), login)
    return _done("comment", done, f"pull request {target.pull}")


def _check(client: Client, target: Target, posting: Posting, login: str) -> Outcome:
    if target.sha is None:
        return Outcome(what="check", state=State.FAILED, text="the commit of the pull request is not known; give --sha")
    check = replace(posting.check, sha=target.sha)
    done = keep_check_run(client, target.repository, check, login)
    return _done("check", done, f"commit {target.sha[:10]}, {check.conclusion}, {len(check.annotations)} at lines")


def _done(part: str, done: str, where: str) -> Outcome:
    state = State.UNCHANGED if done == "unchanged" else State.SENT
    return Outcome(what=part, state=state, text=f"{done} ({where})")


def _tried(part: str, target: Target, send: _Send, client: Client, posting: Posting, login: str) -> Outcome:
    try:
        return send(client, target, posting, login)
    except PostError as error:
        return _failure(part, target, error)


def _failure(part: str, target: Target, error: PostError) -> Outcome:
    if isinstance(error, Refused) and _is_for_readers_only(error, target):
        text = f"the token of this run may read and not write, as for a pull request from a fork. {error}"
        return Outcome(what=part, state=State.READ_ONLY, text=text)
    return Outcome(what=part, state=State.FAILED, text=_explained(part, target, error))


def _is_for_readers_only(refused: Refused, target: Target) -> bool:
    """Whether a refusal is that of a fork's token: where nothing tells of a fork, GitHub's own words decide."""
    if target.is_read_only is None:
        return refused.status == 403 and _LACKS_PERMISSION in refused.detail.lower()
    return target.is_read_only and refused.status in (403, 404)


def _explained(part: str, target: Target, error: PostError) -> str:
    if not isinstance(error, Refused):
        return str(error)
    need = _PERMISSIONS[part]
    reasons: Mapping[int, str] = {
        401: f"the token is not accepted: it is wrong, has expired or was revoked ({' or '.join(TOKENS)})",
        403: f"the token lacks a permission: the job needs `permissions: {need}`",
        404: f"{target.repository} or what belongs to it is not there, or the token may not see it (it needs `{need}`)",
        422: "GitHub does not take it: is the commit in this repository, and the pull request open to comments?",
    }
    reason = reasons.get(error.status)
    return f"{reason}. {error}" if reason else str(error)


def _summary(posting: Posting, file: str, is_alone: bool) -> Outcome:
    if not file:
        state = State.FAILED if is_alone else State.LEFT_ALONE
        text = f"{VARIABLE} is not set, as outside of a workflow" + ("; nothing was posted" if is_alone else "")
        return Outcome(what="summary", state=state, text=text)
    try:
        made = [posting.pieces[0], *([ONLY_SUMMARY] if is_alone else []), *posting.pieces[1:]]
        return _done("summary", append_summary(Path(file), made), posting.title)
    except PostError as error:
        return Outcome(what="summary", state=State.FAILED, text=str(error))
