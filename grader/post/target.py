"""Where a result belongs on GitHub: repository, pull request and commit, from options or from what a workflow is told.

A workflow learns of it through variables (GITHUB_REPOSITORY, GITHUB_EVENT_NAME, ...) and through the event itself, a
JSON file. Its texts were chosen by whoever opened the pull request: nothing but numbers, hashes and names of a known
form is taken from it.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.post.errors import WrongUse

_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]{1,100}/(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")  # SHA-1, or SHA-256
_OWNER = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_BRANCH = "refs/heads/"
#: Events of a pull request from a fork come with a token that reads only; `pull_request_target` comes with a full one.
_FULL_TOKEN = "pull_request_target"
_BOT_WITHOUT_RIGHTS = "dependabot[bot]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where to post. What is not known yet is None, and looked up (see `github.locate`)."""

    #: "owner/name".
    repository: str
    #: Number of the pull request.
    pull: int | None = None
    #: The commit that was graded.
    sha: str | None = None
    #: "owner:branch" whose open pull request is the one.
    head: str | None = None
    #: Whether the token of such a run is expected to read only; None where nothing tells.
    is_read_only: bool | None = None


def read_target(repository: str | None, pull: int | None, sha: str | None, environ: Mapping[str, str]) -> Target:
    """Find out where to post, options first.

    Args:
        repository: `--repo`.
        pull: `--pr`.
        sha: `--sha`.
        environ: the environment of a workflow, or any other.

    Raises:
        WrongUse: a value has the wrong form, the event cannot be read, or too little is known.
    """
    told = environ.get("GITHUB_REPOSITORY", "")
    name = repository or told
    if not _REPOSITORY.fullmatch(name):
        where = "--repo" if repository else "GITHUB_REPOSITORY"
        raise WrongUse(f"{where}: got {name!r}, wanted OWNER/NAME; outside of a workflow, give --repo")
    if sha is not None and not _SHA.fullmatch(sha):
        raise WrongUse(f"--sha: got {sha!r}, wanted the 40 digits of a commit, as `git rev-parse HEAD` prints them")
    known = Target(repository=name, pull=pull, sha=sha)
    if name.lower() == told.lower() and (pull is None or sha is None):
        known = _completed(known, _from_event(name, environ))
    if known.pull is None and known.sha is None:
        raise WrongUse("neither a pull request nor a commit is known; outside of a workflow, give --pr or --sha")
    return known


def folder_in_repository(text: str) -> str:
    """A folder of a repository as annotations name it: relative, with `/`; empty for the top.

    Raises:
        WrongUse: it leads out of the repository.
    """
    steps = [step for step in text.replace("\\", "/").split("/") if step not in ("", ".")]
    if text.startswith("/") or ".." in steps:
        raise WrongUse(f"--path: got {text!r}, wanted a folder inside the repository, such as hw4")
    return "/".join(steps)


def _completed(known: Target, event: Target) -> Target:
    """What options say, and the event where it is about the same pull request and commit."""
    if known.pull is not None:
        is_same = known.pull == event.pull
        return replace(known, sha=event.sha if is_same else None, is_read_only=event.is_read_only)
    if known.sha is not None:
        is_same = known.sha == event.sha
        return replace(known, pull=event.pull, head=event.head if is_same else None, is_read_only=event.is_read_only)
    return event


def _from_event(repository: str, environ: Mapping[str, str]) -> Target:
    event = _read(environ.get("GITHUB_EVENT_PATH", ""))
    if "workflow_run" in event:
        return _from_run(repository, _part(event, "workflow_run"))
    if "pull_request" in event:
        return _from_pull(repository, _part(event, "pull_request"), environ)
    sha = event.get("after") or environ.get("GITHUB_SHA")
    if event.get("deleted") is True:
        raise WrongUse("the event is the deletion of a branch: there is nothing to post about")
    ref = event.get("ref") or environ.get("GITHUB_REF") or ""
    branch = ref.removeprefix(_BRANCH) if isinstance(ref, str) and ref.startswith(_BRANCH) else ""
    return Target(repository=repository, sha=_sha(sha), head=_head(repository.partition("/")[0], branch))


def _from_pull(repository: str, pull: Mapping[str, Any], environ: Mapping[str, str]) -> Target:
    head = _part(pull, "head")
    home = _part(head, "repo").get("full_name")  # gone when the fork was deleted
    is_fork = not isinstance(home, str) or home.lower() != repository.lower()
    has_full_token = environ.get("GITHUB_EVENT_NAME") == _FULL_TOKEN
    is_bot = environ.get("GITHUB_ACTOR") == _BOT_WITHOUT_RIGHTS
    return Target(
        repository=repository,
        pull=_number(pull.get("number")),
        sha=_sha(head.get("sha")),
        is_read_only=(is_fork or is_bot) and not has_full_token,
    )


def _from_run(repository: str, run: Mapping[str, Any]) -> Target:
    """A workflow that follows another: its own token is full. A fork's pull request is not named, only its branch."""
    pulls = run.get("pull_requests")
    first = pulls[0] if isinstance(pulls, list) and pulls and isinstance(pulls[0], dict) else {}
    owner = _part(_part(run, "head_repository"), "owner").get("login")
    return Target(
        repository=repository,
        pull=_number(first.get("number")),
        sha=_sha(run.get("head_sha")),
        head=_head(owner, run.get("head_branch")),
        is_read_only=False,
    )


def _read(path: str) -> Mapping[str, Any]:
    if not path:
        return {}
    try:
        event = json.loads(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no JSON"
        raise WrongUse(f"GITHUB_EVENT_PATH: {path} cannot be read ({reason}); give --repo, --pr and --sha") from None
    return event if isinstance(event, dict) else {}


def _part(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = record.get(name)
    return found if isinstance(found, dict) else {}


def _number(found: object) -> int | None:
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else None


def _sha(found: object) -> str | None:
    return found if isinstance(found, str) and _SHA.fullmatch(found) and found.strip("0") else None


def _head(owner: object, branch: object) -> str | None:
    if isinstance(owner, str) and _OWNER.fullmatch(owner) and isinstance(branch, str) and branch:
        return f"{owner}:{branch}"
    return None
