"""The sticky comment of a pull request: one, found by a hidden marker at its beginning, and brought up to date.

Only comments of one's own are ever touched: anybody may write the marker. Sources: GitHub REST API, "Issue
comments"; who one is says GraphQL's `viewer`, the only place that answers the token of a workflow.
"""

from typing import Any
from urllib.parse import quote

from grader.post.errors import Refused
from grader.post.http import Client

#: Bytes of UTF-8. GitHub refuses bodies of more than 65,536 characters.
MOST_BYTES = 65_536
#: Who writes with the token of a workflow; what is assumed where nobody tells.
_WORKFLOW = "github-actions"
_BOT = "[bot]"
_GRAPHQL = "query { viewer { login } }"


def marker(name: str) -> str:
    """The first line of the comment of this name: an HTML comment, which is not shown."""
    return f"<!-- grade: {quote(name, safe='').replace('-', '%2D')} -->"  # two hyphens would end it


def writer(client: Client) -> str:
    """The login that comments of this token have, without the mark of a bot.

    Raises:
        PostError: the server could not be asked. A server that does not say is taken for one of a workflow.
    """
    try:
        found = client.send("POST", _graphql_of(client), {"query": _GRAPHQL}).mapping()
    except Refused as refused:
        if refused.status not in (403, 404):
            raise
        return _WORKFLOW
    login = _field(_field(found, "data"), "viewer").get("login")
    return login.removesuffix(_BOT) if isinstance(login, str) and login else _WORKFLOW


def keep_comment(client: Client, repository: str, pull: int, body: str, mark: str, login: str) -> str:
    """Have exactly one comment with this marker, of this text.

    Args:
        client: GitHub's API.
        repository: "owner/name".
        pull: number of the pull request.
        body: the text, which begins with the marker.
        mark: the marker.
        login: see `writer`.

    Returns:
        What was done: "created", "updated" or "unchanged", and how many were deleted.

    Raises:
        PostError: it could not be done. Run again, it goes on from what is there.
    """
    return client.settle(lambda: _keep(client, repository, pull, body, mark, login))


def _keep(client: Client, repository: str, pull: int, body: str, mark: str, login: str) -> str:
    listed = client.pages(f"/repos/{repository}/issues/{pull}/comments")
    own = sorted((one for one in listed if _is_own(one, mark, login)), key=lambda one: int(one["id"]))
    if not own:
        client.send("POST", f"/repos/{repository}/issues/{pull}/comments", {"body": body}, is_repeatable=False)
        return "created"
    first, *others = own
    done = "unchanged"
    if not same_text(first["body"], body):
        client.send("PATCH", f"/repos/{repository}/issues/comments/{first['id']}", {"body": body})
        done = "updated"
    for other in others:
        _delete(client, f"/repos/{repository}/issues/comments/{other['id']}")
    return f"{done}, {len(others)} older deleted" if others else done


def same_text(one: str, other: str) -> bool:
    """Whether two texts are equal but for how a server writes line ends."""
    return one.replace("\r\n", "\n").strip() == other.replace("\r\n", "\n").strip()


def _delete(client: Client, path: str) -> None:
    try:
        client.send("DELETE", path)
    except Refused as refused:
        if refused.status != 404:  # somebody was faster, or the first attempt's answer got lost
            raise


def _is_own(comment: dict[str, Any], mark: str, login: str) -> bool:
    body, number = comment.get("body"), comment.get("id")
    author = _field(comment, "user").get("login")
    is_marked = (isinstance(body, str) and body.startswith(f"{mark}\n")) or body == mark
    return is_marked and isinstance(number, int) and author in (login, f"{login}{_BOT}")


def _graphql_of(client: Client) -> str:
    """Where GraphQL is: beside /api/v3 of an Enterprise server, below the API's host elsewhere."""
    base = client.base
    return f"{base.origin}{base.path.removesuffix('/v3')}/graphql"


def _field(record: dict[str, Any], name: str) -> dict[str, Any]:
    found = record.get(name)
    return found if isinstance(found, dict) else {}
