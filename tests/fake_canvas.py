"""A Canvas on loopback: an assignment, submissions and comments, students of a course, as its REST API documents them.

Invented: course 11, assignment 22, the teacher 900 whose token it is, and the students.
"""

import re
from typing import Any

from fake_server import FakeServer, Request, Response, page_of

COURSE, ASSIGNMENT, TEACHER = 11, 22, 900
#: What Canvas says when its quota is used up (instructure/canvas-lms, app/middleware/request_throttle.rb).
THROTTLED = b"403 Forbidden (Rate Limit Exceeded)\n"
_UNAUTHORIZED = {"status": "unauthorized", "errors": [{"message": "user not authorized to perform that action"}]}
_MISSING = {"errors": [{"message": "The specified resource does not exist."}]}


class FakeCanvas(FakeServer):
    """The API of Canvas, below `url`."""

    def __init__(self, token: str = "900~inventedCanvasToken") -> None:
        super().__init__(token)
        self.reset()

    def reset(self) -> None:
        """As before grading: students 101 to 104, no scores and no comments."""
        super().reset()
        self.most_per_page = 100
        self.assignment: dict[str, Any] = {"id": ASSIGNMENT, "name": "Attention", "points_possible": 100.0}
        self.users: list[dict[str, Any]] = [
            {"id": 101, "name": "Ada Kovač", "login_id": "ada", "email": "ada@example.edu"},
            {"id": 102, "name": "José Ruíz", "login_id": "jose", "email": "jose@example.edu"},
            {"id": 103, "name": "王小明", "login_id": "wang", "email": "wang@example.edu"},
            {"id": 104, "name": "Grace O'Neil", "login_id": "grace", "email": "grace@example.edu"},
        ]
        self.submissions = {user["id"]: _untouched(user["id"]) for user in self.users}
        self._last = 5000

    def comment(self, user: int, text: str, author: int = TEACHER) -> dict[str, Any]:
        """Add somebody's comment."""
        self._last += 1
        made = {"id": self._last, "author_id": author, "comment": text}
        self.submissions[user]["submission_comments"].append(made)
        return made

    def comments(self, user: int) -> list[str]:
        """The texts at a student's submission."""
        return [comment["comment"] for comment in self.submissions[user]["submission_comments"]]

    def score(self, user: int) -> float | None:
        """What was entered for a student."""
        return self.submissions[user]["entered_score"]

    def answer(self, request: Request) -> Response:
        """As the REST API's documents say."""
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return Response(status=401, body={"errors": [{"message": "Invalid access token."}]})
        if request.line == "GET /api/v1/users/self":
            return Response(body={"id": TEACHER, "name": "T. Eacher"})
        course = f"/api/v1/courses/{COURSE}"
        submissions = f"{course}/assignments/{ASSIGNMENT}/submissions"
        for method, pattern, handle in (
            ("GET", f"{course}/assignments/{ASSIGNMENT}", self._get_assignment),
            ("GET", f"{course}/users", self._list_users),
            ("GET", submissions, self._list),
            ("GET", rf"{submissions}/(\d+)", self._get),
            ("PUT", rf"{submissions}/(\d+)", self._put),
            ("PUT", rf"{submissions}/(\d+)/comments/(\d+)", self._edit),
            ("DELETE", rf"{submissions}/(\d+)/comments/(\d+)", self._delete),
        ):
            match = re.fullmatch(pattern, request.path)
            if match and method == request.method:
                return handle(request, *map(int, match.groups()))
        return Response(status=404, body=_MISSING)

    def _get_assignment(self, request: Request) -> Response:
        return Response(body=self.assignment)

    def _list_users(self, request: Request) -> Response:
        return self._page(self.users, request)

    def _list(self, request: Request) -> Response:
        return self._page([self._shown(one, request) for one in self.submissions.values()], request)

    def _get(self, request: Request, user: int) -> Response:
        found = self.submissions.get(user)
        return Response(body=self._shown(found, request)) if found else Response(status=404, body=_MISSING)

    def _shown(self, submission: dict[str, Any], request: Request) -> dict[str, Any]:
        includes = request.query.get("include[]", [])
        left_out = {name for name in ("submission_comments", "group") if name not in includes}
        return {name: value for name, value in submission.items() if name not in left_out}

    def _put(self, request: Request, user: int) -> Response:
        if user not in self.submissions:
            return Response(status=401, body=_UNAUTHORIZED)
        graded = [user]
        if "submission" in request.body:
            graded = self._graded_with(user)
            for one in graded:
                self._grade(one, request.body["submission"]["posted_grade"])
        if "comment" in request.body:
            self.comment(user, request.body["comment"]["text_comment"])
        every = [{k: v for k, v in self.submissions[one].items() if k != "submission_comments"} for one in graded]
        return Response(body={**self.submissions[user], "all_submissions": every})

    def _graded_with(self, user: int) -> list[int]:
        """A grade for one member of a group is a grade for all, unless the assignment says otherwise."""
        group = self.submissions[user]["group"]["id"]
        if group is None or self.assignment.get("grade_group_students_individually"):
            return [user]
        others = [number for number, one in self.submissions.items() if one["group"]["id"] == group and number != user]
        return [user, *others]

    def _grade(self, user: int, grade: str) -> None:
        submission = self.submissions[user]
        entered = float(grade) if grade else None
        score = entered if entered is None else entered - submission["points_deducted"]
        submission.update(entered_score=entered, score=score, grade=grade, excused=False, workflow_state="graded")

    def _edit(self, request: Request, user: int, number: int) -> Response:
        found = self._find(user, number)
        if found is None or found["author_id"] != TEACHER:
            return Response(status=401, body=_UNAUTHORIZED)
        found["comment"] = request.body["comment"]
        return Response(body=found)

    def _delete(self, request: Request, user: int, number: int) -> Response:
        found = self._find(user, number)
        if found is None:
            return Response(status=404, body=_MISSING)
        self.submissions[user]["submission_comments"].remove(found)
        return Response(body=found)

    def _find(self, user: int, number: int) -> dict[str, Any] | None:
        comments = self.submissions[user]["submission_comments"]
        return next((one for one in comments if one["id"] == number), None)

    def _page(self, entries: list[Any], request: Request) -> Response:
        return page_of(entries, request, self.url, self.most_per_page, between=",")


def _untouched(user: int) -> dict[str, Any]:
    return {
        "user_id": user,
        "score": None,
        "entered_score": None,
        "grade": None,
        "excused": False,
        "points_deducted": 0.0,
        "workflow_state": "submitted",
        "group": {"id": None, "name": None},
        "submission_comments": [],
    }
