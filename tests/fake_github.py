"""A GitHub on loopback: comments, check runs, pull requests, permissions, as its REST API documents them.

Invented: the repository `school/hw4-ada`, its pull request 7, and everybody in it.
"""

import re
from typing import Any

from fake_server import FakeServer, Request, Response, page_of

REPOSITORY = "school/hw4-ada"
PULL = 7
SHA = "5ac31b9f4e0d27168cbb0e7c5f6de2f1a98d4410"
BOT = "github-actions[bot]"
NOT_ACCESSIBLE = {"message": "Resource not accessible by integration", "status": "403"}
_NOT_FOUND = {"message": "Not Found", "status": "404"}


class FakeGitHub(FakeServer):
    """The API of GitHub, below `url` + `base` (an Enterprise server has /api/v3)."""

    def __init__(self, token: str = "ghs_invented0123456789", base: str = "") -> None:
        super().__init__(token)
        self.base = base
        self.reset()

    def reset(self) -> None:
        """As after a push: no comments and no check runs, a token that may do everything."""
        super().reset()
        #: Whom the token belongs to.
        self.login = BOT
        self.permissions = {"pull-requests", "checks"}
        self.most_per_page = 100
        self.comments: list[dict[str, Any]] = []
        self.check_runs: list[dict[str, Any]] = []
        self.annotations: dict[int, list[dict[str, Any]]] = {}
        home = {"full_name": REPOSITORY}
        self.pulls = [{"number": PULL, "state": "open", "head": {"sha": SHA, "ref": "work", "repo": home}}]
        self._last = 1000

    @property
    def api(self) -> str:
        """Where the REST API begins."""
        return f"{self.url}{self.base}"

    def comment(self, body: str, login: str = BOT) -> dict[str, Any]:
        """Add somebody's comment."""
        kind = "Bot" if login.endswith("[bot]") else "User"
        made = {"id": self._next(), "body": body, "user": {"login": login, "type": kind}}
        self.comments.append(made)
        return made

    def answer(self, request: Request) -> Response:
        """As the REST API's documents say."""
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return Response(status=401, body={"message": "Bad credentials", "status": "401"})
        graphql = "/api/graphql" if self.base else "/graphql"
        if request.line == f"POST {graphql}":
            return Response(body={"data": {"viewer": {"login": self.login}}})
        path = request.path.removeprefix(f"{self.base}/repos/{REPOSITORY}")
        for method, pattern, handle in self._routes():
            match = re.fullmatch(pattern, path)
            if match and method == request.method:
                return handle(request, *match.groups())
        return Response(status=404, body=_NOT_FOUND)

    def _routes(self) -> list[tuple[str, str, Any]]:
        return [
            ("GET", r"/pulls", self._list_pulls),
            ("GET", r"/pulls/(\d+)", self._get_pull),
            ("GET", r"/issues/(\d+)/comments", self._list_comments),
            ("POST", r"/issues/(\d+)/comments", self._create_comment),
            ("PATCH", r"/issues/comments/(\d+)", self._update_comment),
            ("DELETE", r"/issues/comments/(\d+)", self._delete_comment),
            ("GET", r"/commits/(\w+)/check-runs", self._list_runs),
            ("POST", r"/check-runs", self._create_run),
            ("PATCH", r"/check-runs/(\d+)", self._update_run),
            ("GET", r"/check-runs/(\d+)/annotations", self._list_annotations),
        ]

    def _page(self, entries: list[Any], request: Request, **options: Any) -> Response:
        return page_of(entries, request, self.url, self.most_per_page, **options)

    # --- pull requests and comments -------------------------------------------------------------------------------

    def _list_pulls(self, request: Request) -> Response:
        owner, _, branch = request.query.get("head", [":"])[0].partition(":")
        found = [one for one in self.pulls if one["head"]["ref"] == branch and self._owner(one) == owner]
        return self._page(found, request)

    def _owner(self, pull: dict[str, Any]) -> str:
        return str(pull["head"]["repo"]["full_name"]).partition("/")[0]

    def _get_pull(self, request: Request, number: str) -> Response:
        found = next((one for one in self.pulls if one["number"] == int(number)), None)
        return Response(body=found) if found else Response(status=404, body=_NOT_FOUND)

    def _list_comments(self, request: Request, number: str) -> Response:
        return self._page(self.comments, request) if int(number) == PULL else Response(status=404, body=_NOT_FOUND)

    def _create_comment(self, request: Request, number: str) -> Response:
        refusal = self._refuse("pull-requests") or self._refuse_body(request.body)
        return refusal or Response(status=201, body=self.comment(request.body["body"], self.login))

    def _update_comment(self, request: Request, number: str) -> Response:
        found = next((one for one in self.comments if one["id"] == int(number)), None)
        refusal = self._refuse("pull-requests") or self._refuse_body(request.body)
        if refusal or found is None:
            return refusal or Response(status=404, body=_NOT_FOUND)
        found["body"] = request.body["body"]
        return Response(body=found)

    def _delete_comment(self, request: Request, number: str) -> Response:
        found = next((one for one in self.comments if one["id"] == int(number)), None)
        refusal = self._refuse("pull-requests")
        if refusal or found is None:
            return refusal or Response(status=404, body=_NOT_FOUND)
        self.comments.remove(found)
        return Response(status=204)

    def _refuse(self, permission: str) -> Response | None:
        return None if permission in self.permissions else Response(status=403, body=NOT_ACCESSIBLE)

    def _refuse_body(self, body: dict[str, Any]) -> Response | None:
        if len(body["body"]) <= 65536:
            return None
        errors = [{"resource": "IssueComment", "code": "unprocessable", "field": "data"}]
        message = "Validation Failed: body is too long (maximum is 65536 characters)"
        return Response(status=422, body={"message": message, "errors": errors})

    # --- check runs -----------------------------------------------------------------------------------------------

    def _list_runs(self, request: Request, sha: str) -> Response:
        name = request.query.get("check_name", [""])[0]
        found = [run for run in reversed(self.check_runs) if run["head_sha"] == sha and name in ("", run["name"])]
        if request.query.get("filter", ["latest"])[0] == "latest":
            found = found[:1]
        return self._page(found, request, wrap=lambda page: {"total_count": len(found), "check_runs": page})

    def _create_run(self, request: Request) -> Response:
        refusal = self._refuse("checks") or self._refuse_output(request.body)
        if refusal:
            return refusal
        run = {"id": self._next(), "app": {"slug": self.login.removesuffix("[bot]")}}
        self.check_runs.append(run)
        return Response(status=201, body=self._change(run, request.body))

    def _update_run(self, request: Request, number: str) -> Response:
        run = next((one for one in self.check_runs if one["id"] == int(number)), None)
        refusal = self._refuse("checks") or self._refuse_output(request.body)
        if refusal or run is None:
            return refusal or Response(status=404, body=_NOT_FOUND)
        return Response(body=self._change(run, request.body))

    def _change(self, run: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        """Annotations are appended; everything else is replaced."""
        output = dict(body["output"])
        there = self.annotations.setdefault(run["id"], [])
        there.extend({**one, "blob_href": "", "raw_details": None} for one in output.pop("annotations", []))
        run.update({**body, "output": {**output, "text": None, "annotations_count": len(there)}})
        return run

    def _list_annotations(self, request: Request, number: str) -> Response:
        return self._page(self.annotations.get(int(number), []), request)

    def _refuse_output(self, body: dict[str, Any]) -> Response | None:
        output = body["output"]
        is_right = len(output.get("annotations", [])) <= 50 and len(output["summary"]) <= 65535 and output["title"]
        return None if is_right else Response(status=422, body={"message": "Invalid request."})

    def _next(self) -> int:
        self._last += 1
        return self._last
