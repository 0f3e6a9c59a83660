"""A check run on the commit that was graded: conclusion, text, and annotations in batches.

It is found again by its name, the commit and an id of our own. Annotations of a check run can be added and never
taken away, so it is updated as long as all of its annotations are still wanted; where some are not, as after a
regrade, a new run of the same name takes its place, and GitHub shows the newest of a name.

Source: GitHub REST API, "Check runs": 50 annotations a request, texts of 65,535 characters.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from grader.post.annotations import Annotation
from grader.post.comment import same_text
from grader.post.errors import Unreachable
from grader.post.http import Client

#: Annotations of one request.
BATCH = 50
#: Bytes of UTF-8; GitHub counts 65,535 characters.
MOST_BYTES = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRun:
    """What a check run is to be."""

    name: str
    sha: str
    #: Our own id, by which a later run finds it.
    external_id: str
    #: success, failure or neutral.
    conclusion: str
    title: str
    #: Markdown.
    summary: str
    annotations: Sequence[Annotation]


def keep_check_run(client: Client, repository: str, wanted: CheckRun, login: str) -> str:
    """Have a check run as wanted on the commit.

    Args:
        client: GitHub's API.
        repository: "owner/name".
        wanted: what it is to be.
        login: see `comment.writer`: an app may change its own check runs alone.

    Returns:
        What was done: "created", "updated", "unchanged", or "replaced".

    Raises:
        PostError: it could not be done. Run again, it goes on from what is there.
    """
    done: list[str] = []  # of the first round: a later one, after a lost answer, finds the rest of its own work
    return client.settle(lambda: _keep(client, repository, wanted, login, done))


def requests(repository: str, wanted: CheckRun) -> list[tuple[str, str, dict[str, Any]]]:
    """Method, path and body of the requests that make it where nothing is there yet; `ID` stands for its number."""
    first, *rest = _batches(wanted.annotations) or [()]
    path = f"/repos/{repository}/check-runs"
    fields = {"name": wanted.name, "head_sha": wanted.sha, "external_id": wanted.external_id}
    made = ("POST", path, {**fields, **_state(wanted, first)})
    return [made, *(("PATCH", f"{path}/ID", _state(wanted, batch)) for batch in rest)]


def _keep(client: Client, repository: str, wanted: CheckRun, login: str, done: list[str]) -> str:
    there = _find(client, repository, wanted, login)
    missing = None if there is None else _missing(client, repository, there["id"], wanted.annotations)
    if there is None or missing is None:
        done.append("created" if there is None else "replaced, because annotations cannot be taken away")
        _create(client, repository, wanted)
        return done[0]
    is_same = _is_as_wanted(there, wanted)
    if missing or not is_same:
        done.append("updated")
        for batch in _batches(missing) or [()]:
            _update(client, repository, there["id"], wanted, batch)
    return done[0] if done else "unchanged"


def _find(client: Client, repository: str, wanted: CheckRun, login: str) -> dict[str, Any] | None:
    """The newest of our own."""
    path = f"/repos/{repository}/commits/{quote(wanted.sha)}/check-runs"
    runs = client.pages(path, "check_runs", check_name=wanted.name, filter="all")
    own = [run for run in runs if _is_own(run, wanted, login)]
    return max(own, key=lambda run: int(run["id"]), default=None)


def _is_own(run: dict[str, Any], wanted: CheckRun, login: str) -> bool:
    app = run.get("app")
    slug = app.get("slug", login) if isinstance(app, dict) else login
    is_this = (run.get("name"), run.get("external_id")) == (wanted.name, wanted.external_id)
    is_on_commit = run.get("head_sha", wanted.sha) == wanted.sha
    return is_this and is_on_commit and slug == login and isinstance(run.get("id"), int)


def _missing(client: Client, repository: str, number: int, wanted: Iterable[Annotation]) -> list[Annotation] | None:
    """The annotations that are still to be added; None where one is there that should not be."""
    listed = client.pages(f"/repos/{repository}/check-runs/{number}/annotations")
    there = [_identity(one) for one in listed]
    asked = {_identity(one.fields()): one for one in wanted}
    if len(set(there)) < len(there) or not set(there) <= set(asked):
        return None
    return [one for key, one in asked.items() if key not in there]


def _identity(fields: dict[str, Any]) -> tuple[object, ...]:
    texts = [str(fields.get(name) or "").replace("\r\n", "\n").strip() for name in ("title", "message")]
    return (fields.get("path"), fields.get("start_line"), fields.get("annotation_level"), *texts)


def _is_as_wanted(run: dict[str, Any], wanted: CheckRun) -> bool:
    output = run.get("output")
    texts = output if isinstance(output, dict) else {}
    return (
        run.get("status") == "completed"
        and run.get("conclusion") == wanted.conclusion
        and same_text(str(texts.get("title") or ""), wanted.title)
        and same_text(str(texts.get("summary") or ""), wanted.summary)
    )


def _create(client: Client, repository: str, wanted: CheckRun) -> None:
    (method, path, body), *rest = requests(repository, wanted)
    number = client.send(method, path, body, is_repeatable=False).mapping().get("id")
    if rest and not isinstance(number, int):
        raise Unreachable(f"{method} {path}: answered without the number of what was made")
    for method, path, body in rest:
        client.send(method, path.replace("/ID", f"/{number}"), body, is_repeatable=False)


def _update(client: Client, repository: str, number: int, wanted: CheckRun, batch: Sequence[Annotation]) -> None:
    """Adding annotations twice shows them twice: such a request is not repeatable."""
    body = _state(wanted, batch)
    client.send("PATCH", f"/repos/{repository}/check-runs/{number}", body, is_repeatable=not batch)


def _state(wanted: CheckRun, batch: Sequence[Annotation]) -> dict[str, Any]:
    output = {
        "title": wanted.title,
        "summary": wanted.summary,
        "annotations": [annotation.fields() for annotation in batch],
    }
    return {"status": "completed", "conclusion": wanted.conclusion, "output": output}


def _batches(found: Sequence[Annotation]) -> list[Sequence[Annotation]]:
    return [found[begin : begin + BATCH] for begin in range(0, len(found), BATCH)]
