"""A result on GitHub, against a real server on loopback that behaves as GitHub's documents say."""

import pytest
from fake_github import BOT, PULL, REPOSITORY, SHA, FakeGitHub
from sample_findings import make_diagnosis
from sample_report import HOSTILE, make_check, make_header, make_submission

from grader.post import github
from grader.post.address import Address
from grader.post.http import Client
from grader.post.outcome import State
from grader.post.target import Target
from grader.post.token import Token
from grader.report import Feedback, SourceFile, Status
from grader.student_view import student_view
from grader.verdict import Verdict

MARK = "<!-- grade: attention -->"
BOTH = ("comment", "check")


@pytest.fixture(scope="module")
def running():
    """A GitHub of this module."""
    server = FakeGitHub()
    yield server
    server.close()


@pytest.fixture
def hub(running):
    """GitHub after a push: no comment, no check run."""
    running.reset()
    yield running
    running.released.set()


@pytest.fixture(scope="module")
def client(running):
    """A client that does not wait in earnest."""
    address = Address.parse(running.api, "--url")
    with Client(address, Token(running.token, "GITHUB_TOKEN"), github.HEADERS, wait=lambda seconds: None) as client:
        yield client


@pytest.fixture
def post(hub, client, tmp_path):
    """Post a submission to pull request 7; the outcomes by part."""
    summary = tmp_path / "summary.md"

    def run(submission=None, parts=BOTH, target=None, folder="", name="attention"):
        target = target or Target(repository=REPOSITORY, pull=PULL, sha=SHA)
        posting = github.make_posting(view_of(submission or make_submission()), name, folder)
        outcomes = github.post(client, target, posting, parts, str(summary))
        return {outcome.what: outcome for outcome in outcomes}

    run.summary = summary
    return run


def view_of(submission, **fields):
    """What the student of a submission sees."""
    header = make_header()
    return student_view(header, submission, Feedback(**fields), header.created.date())


def lined(*places, **fields):
    """A submission whose checks fail at lines: of file and line each."""
    checks = [
        make_check(
            id=f"test_x.py::test_{number}",
            title=f"Check {number}",
            verdict=Verdict.EXCEPTION,
            message=f"f(x) raised an error\n  error     ValueError: {number}\n  at        {file}, line {line}:  x",
        )
        for number, (file, line) in enumerate(places)
    ]
    return make_submission(checks=checks, **fields)


def lines(count):
    """A submission with a failure at each of so many lines."""
    return lined(*(("single_head.py", number) for number in range(1, count + 1)))


# --- the comment -----------------------------------------------------------------------------------------------------


def test_github_first_time_makes_a_comment_that_begins_with_the_marker(hub, post):
    """Hidden, and found again."""
    outcome = post(parts=("comment",))["comment"]

    assert (State.SENT, "created (pull request 7)") == (outcome.state, outcome.text)
    (comment,) = hub.comments
    assert comment["body"].startswith(f"{MARK}\n\n## Attention: 12.50 of 100.00 points\n")


def test_github_second_time_changes_nothing(hub, post):
    """One comment, one check run, no request that writes."""
    post()
    hub.requests.clear()

    outcomes = post()

    assert [State.UNCHANGED] * 2 == [outcome.state for outcome in outcomes.values()]
    assert (1, 1) == (len(hub.comments), len(hub.check_runs))
    assert ["POST /graphql"] == hub.lines("^(POST|PATCH|DELETE)")


def test_github_another_result_updates_the_comment(hub, post):
    """The same comment, whatever else was said since, on whatever page it is."""
    hub.most_per_page = 2
    for number in range(5):
        hub.comment(f"talk {number}", "ada")
    post(parts=("comment",))
    for number in range(3):
        hub.comment(f"more talk {number}", "ada")

    outcome = post(make_submission(score=30), parts=("comment",))["comment"]

    assert "updated (pull request 7)" == outcome.text
    (own,) = [comment for comment in hub.comments if comment["user"]["login"] == BOT]
    assert "30.00 of 100.00 points" in own["body"]


def test_github_two_old_comments_become_one(hub, post):
    """The oldest stays, as replies may refer to it."""
    first = hub.comment(f"{MARK}\nold")
    hub.comment("talk", "ada")
    hub.comment(f"{MARK}\nolder")

    outcome = post(parts=("comment",))["comment"]

    assert "updated, 1 older deleted (pull request 7)" == outcome.text
    assert [first["id"]] == [one["id"] for one in hub.comments if one["body"].startswith(MARK)]
    assert 2 == len(hub.comments)


@pytest.mark.parametrize("login", ["ada", "github-actions", "other-app[bot]"])
def test_github_somebody_elses_comment_is_never_touched(hub, post, login):
    """Anybody may write the marker."""
    if login == "github-actions":
        hub.login = "course-bot[bot]"
    theirs = hub.comment(f"{MARK}\nfull marks!", login)

    post(parts=("comment",))

    assert f"{MARK}\nfull marks!" == theirs["body"]
    assert 2 == len(hub.comments)


@pytest.mark.parametrize("body", [f"see\n{MARK}\n", f"> {MARK}\n", "<!-- grade: attention2 -->\n", None])
def test_github_own_comment_without_the_marker_in_front_is_never_touched(hub, post, body):
    """A bot says other things too; another assignment has another marker."""
    other = hub.comment(body)

    post(parts=("comment",))

    assert body == other["body"]
    assert 2 == len(hub.comments)


def test_github_comment_as_a_person_is_found_again(hub, post):
    """A personal token writes as somebody, not as a bot."""
    hub.login = "prof"
    post(parts=("comment",))

    assert State.UNCHANGED is post(parts=("comment",))["comment"].state


def test_github_lost_answer_makes_no_second_comment(hub, post):
    """It was created, and the connection broke off: looking again finds it."""
    hub.fail("POST .*/comments", None, is_carried_out=True)

    assert State.FAILED is not post(parts=("comment",))["comment"].state

    assert 1 == len(hub.comments)


def test_github_broken_server_is_tried_until_it_works(hub, post):
    """Faults before and after the fact, one after the other."""
    hub.fail("GET .*/comments", 502)
    hub.fail("POST .*/comments", None)
    hub.fail("POST .*/comments", 503, is_carried_out=True)
    hub.fail("POST .*/check-runs", 500, is_carried_out=True)
    hub.fail("PATCH", 429, headers={"Retry-After": "0"})

    outcomes = post(lines(120))

    assert [] == [outcome for outcome in outcomes.values() if outcome.state is State.FAILED]
    assert (1, 1) == (len(hub.comments), len(hub.check_runs))
    assert 120 == len(hub.annotations[hub.check_runs[0]["id"]])


def test_github_comment_is_within_the_limit_and_says_what_is_missing(hub, post):
    """Longer texts are refused whole."""
    checks = [make_check(id=f"c{n}", title=f"T{n}", message=f"{n}" + "ä" * 3000) for n in range(60)]

    outcome = post(make_submission(checks=checks), parts=("comment",))["comment"]

    assert State.SENT is outcome.state
    body = hub.comments[0]["body"]
    assert len(body) <= 65_536
    assert body.endswith(
        "The rest is left out here, because GitHub takes no longer text. All of it is in the report of the run.\n"
    )
    assert body.count("<details>") == body.count("</details>") > 5


def test_github_enterprise_has_another_address(tmp_path):
    """GraphQL is beside the REST API there, and the token goes to both."""
    hub = FakeGitHub(base="/api/v3")
    address = Address.parse(hub.api, "GITHUB_API_URL")
    posting = github.make_posting(view_of(make_submission()), "attention", "")
    target = Target(repository=REPOSITORY, pull=PULL, sha=SHA)

    with Client(address, Token(hub.token, "GH_TOKEN"), github.HEADERS) as client:
        outcomes = github.post(client, target, posting, BOTH, "")

    assert [State.SENT] * 2 == [outcome.state for outcome in outcomes]
    assert ["POST /api/graphql"] == hub.lines("graphql")
    hub.close()


# --- the check run ---------------------------------------------------------------------------------------------------


def test_github_check_run_says_how_it_ended_and_where(hub, post):
    """On the commit of the student, at the lines that messages name."""
    outcome = post(lined(("single_head.py", 31)), parts=("check",), folder="hw4")["check"]

    assert "created (commit 5ac31b9f4e, failure, 1 at lines)" == outcome.text
    (run,) = hub.check_runs
    assert ("grade: attention", SHA, "completed", "failure") == (
        run["name"],
        run["head_sha"],
        run["status"],
        run["conclusion"],
    )
    assert "12.50 of 100.00 points" == run["output"]["title"]
    (annotation,) = hub.annotations[run["id"]]
    assert ("hw4/single_head.py", 31, 31, "failure", "Check 0: raised an error") == (
        annotation["path"],
        annotation["start_line"],
        annotation["end_line"],
        annotation["annotation_level"],
        annotation["title"],
    )


@pytest.mark.parametrize(
    ("fields", "conclusion"),
    [
        ({"checks": [make_check(verdict=Verdict.PASSED, score=2, message="")]}, "success"),
        ({}, "failure"),
        ({"status": Status.UNGRADABLE, "score": 0, "reason": "no stub file", "checks": []}, "failure"),
        ({"status": Status.GRADER_ERROR, "score": None, "reason": "died", "checks": []}, "neutral"),
        ({"checks": [make_check(verdict=Verdict.GRADER_ERROR, score=None)]}, "neutral"),
    ],
)
def test_github_check_run_conclusion_is_the_students(hub, post, fields, conclusion):
    """The grader's own fault fails nobody."""
    post(make_submission(**fields), parts=("check",))

    assert conclusion == hub.check_runs[0]["conclusion"]


@pytest.mark.parametrize(("count", "batches"), [(0, 1), (1, 1), (50, 1), (51, 2), (130, 3)])
def test_github_annotations_go_in_batches_of_fifty(hub, post, count, batches):
    """More are refused; the rest is added to the same run."""
    post(lines(count), parts=("check",))

    assert batches == len(hub.lines("^(POST|PATCH) .*/check-runs"))
    assert 1 == len(hub.check_runs)
    found = [one["start_line"] for one in hub.annotations[hub.check_runs[0]["id"]]]
    assert list(range(1, count + 1)) == found


def test_github_check_run_that_was_interrupted_is_completed(hub, post):
    """The first batch arrived, the second did not: run again, it adds what is missing, on whatever page the rest is."""
    hub.most_per_page = 20
    hub.fail("PATCH", 403, {"message": "no"})
    assert State.FAILED is post(lines(70), parts=("check",))["check"].state

    outcome = post(lines(70), parts=("check",))["check"]

    assert outcome.text.startswith("updated")
    assert 1 == len(hub.check_runs)
    assert list(range(1, 71)) == [one["start_line"] for one in hub.annotations[hub.check_runs[0]["id"]]]


def test_github_check_run_with_another_score_is_updated(hub, post):
    """As long as nothing that is shown at a line is wrong by now."""
    post(lines(2), parts=("check",))

    outcome = post(lines(3).model_copy(update={"score": 20, "final_score": 20}), parts=("check",))["check"]

    assert outcome.text.startswith("updated")
    (run,) = hub.check_runs
    assert ("20.00 of 100.00 points", 3) == (run["output"]["title"], len(hub.annotations[run["id"]]))


def test_github_check_run_whose_remarks_are_wrong_by_now_is_replaced(hub, post):
    """Annotations cannot be taken away: a newer run of the same name is the one that is shown."""
    post(lines(3), parts=("check",))

    outcome = post(lines(2), parts=("check",))["check"]

    assert outcome.text.startswith("replaced, because annotations cannot be taken away")
    assert 2 == len(hub.annotations[hub.check_runs[-1]["id"]])
    assert State.UNCHANGED is post(lines(2), parts=("check",))["check"].state


def test_github_check_run_of_another_app_is_left_alone(hub, post):
    """An app may change its own alone; the name is nobody's."""
    hub.login = "other-app[bot]"
    post(parts=("check",))
    hub.login = BOT

    assert post(parts=("check",))["check"].text.startswith("created")


def test_github_check_run_is_found_behind_a_newer_one_of_another_app(hub, post):
    """GitHub lists the newest of a name alone, unless it is asked for all."""
    post(parts=("check",))
    hub.login = "other-app[bot]"
    post(parts=("check",))
    hub.login = BOT

    assert State.UNCHANGED is post(parts=("check",))["check"].state


def test_github_lost_answer_shows_no_annotation_twice(hub, post):
    """A batch arrived, and its answer did not: what is there is read, and only the rest is added."""
    hub.fail("PATCH", None, is_carried_out=True)

    post(lines(120), parts=("check",))

    assert list(range(1, 121)) == [one["start_line"] for one in hub.annotations[hub.check_runs[0]["id"]]]


# --- where -----------------------------------------------------------------------------------------------------------


def test_github_pull_request_of_a_branch_is_looked_up(hub, post):
    """After a push, and after the run of another workflow; by branch and commit."""
    pulls = [{**hub.pulls[0], "number": 3, "head": {**hub.pulls[0]["head"], "sha": "0" * 40}}, *hub.pulls]
    hub.pulls, hub.most_per_page = pulls, 1

    outcomes = post(target=Target(repository=REPOSITORY, sha=SHA, head="school:work"))

    assert ["sent", "sent"] == [outcome.state for outcome in outcomes.values()]
    assert 1 == len(hub.comments)


def test_github_commit_without_a_pull_request_gets_its_check(hub, post):
    """A push to a branch nobody reviews is no failure."""
    outcomes = post(target=Target(repository=REPOSITORY, sha=SHA, head="school:other"))

    assert (State.LEFT_ALONE, "there is no open pull request with this commit") == (
        outcomes["comment"].state,
        outcomes["comment"].text,
    )
    assert State.SENT is outcomes["check"].state


def test_github_commit_of_a_pull_request_is_looked_up(hub, post):
    """`--pr` is enough."""
    post(target=Target(repository=REPOSITORY, pull=PULL))

    assert SHA == hub.check_runs[0]["head_sha"]


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_read_only", [True, None])
def test_github_fork_gets_the_summary_alone(hub, post, is_read_only):
    """Its token reads only. That is as it should be, and the summary says so."""
    hub.permissions = set()
    target = Target(repository=REPOSITORY, pull=PULL, sha=SHA, is_read_only=is_read_only)

    outcomes = post(parts=github.PARTS, target=target)

    assert [State.READ_ONLY, State.READ_ONLY, State.SENT] == [outcome.state for outcome in outcomes.values()]
    text = post.summary.read_text(encoding="utf-8")
    assert text.index("## Attention") < text.index(github.ONLY_SUMMARY) < text.index("| Part |")


def test_github_fork_that_is_told_not_found_gets_the_summary_alone(hub, post):
    """GitHub hides what may not be touched."""
    hub.fail("POST .*(comments|check-runs)", 404, {"message": "Not Found"}, times=2)
    target = Target(repository=REPOSITORY, pull=PULL, sha=SHA, is_read_only=True)

    outcomes = post(parts=github.PARTS, target=target)

    assert [State.READ_ONLY, State.READ_ONLY, State.SENT] == [outcome.state for outcome in outcomes.values()]


def test_github_fork_without_a_summary_has_nothing(hub, post, client):
    """Nothing was delivered anywhere: that is no success."""
    hub.permissions = set()
    posting = github.make_posting(view_of(make_submission()), "attention", "")

    *_, summary = github.post(client, Target(repository=REPOSITORY, pull=PULL, sha=SHA), posting, github.PARTS, "")

    assert (State.FAILED, "GITHUB_STEP_SUMMARY is not set, as outside of a workflow; nothing was posted") == (
        summary.state,
        summary.text,
    )


@pytest.mark.parametrize(
    ("missing", "part", "words"),
    [("pull-requests", "comment", "pull-requests: write"), ("checks", "check", "checks: write")],
)
def test_github_missing_permission_is_named_and_the_other_part_is_posted(hub, post, missing, part, words):
    """A workflow of the repository itself could have it: the fault is the workflow's."""
    hub.permissions -= {missing}
    target = Target(repository=REPOSITORY, pull=PULL, sha=SHA, is_read_only=False)

    outcomes = post(target=target)

    assert State.FAILED is outcomes[part].state
    assert f"the job needs `permissions: {words}`. " in outcomes[part].text
    assert outcomes[part].text.endswith("answered 403, Resource not accessible by integration")
    assert {State.FAILED, State.SENT} == {outcome.state for outcome in outcomes.values()}


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, {"message": "Bad credentials"}, "the token is not accepted: it is wrong, has expired or was revoked"),
        (
            404,
            {"message": "Not Found"},
            "school/hw4-ada or what belongs to it is not there, or the token may not see it",
        ),
        (422, {"message": "No commit found for SHA"}, "is the commit in this repository"),
        (451, b"<html>", "POST /repos/school/hw4-ada/check-runs: answered 451"),
    ],
)
def test_github_refusal_is_explained(hub, post, status, body, words):
    """What it may be, and GitHub's own words."""
    hub.fail("POST .*/check-runs", status, body)

    outcome = post(parts=("check",))["check"]

    assert State.FAILED is outcome.state
    assert words in outcome.text


def test_github_wrong_token_fails_both_parts_and_writes_the_summary(hub, post):
    """Each part says why."""
    hub.token = "ghs_another"

    outcomes = post(parts=github.PARTS)

    hub.token = "ghs_invented0123456789"
    assert [State.FAILED, State.FAILED, State.SENT] == [outcome.state for outcome in outcomes.values()]
    assert "GITHUB_TOKEN or GH_TOKEN" in outcomes["comment"].text


def test_github_that_answers_with_a_page_is_told(hub, post):
    """A proxy in between."""
    hub.fail("GET .*/comments", 200, b"<html>log in</html>")

    outcome = post(parts=("comment",))["comment"]

    assert State.FAILED is outcome.state
    assert "something that is no JSON" in outcome.text
    assert [] == hub.comments


@pytest.mark.parametrize("body", [{"ok": True}, {"id": "../1"}, [1], b"<html>"])
def test_github_that_answers_nonsense_is_told(hub, post, body):
    """The first request was accepted, and nothing can be added to what nobody knows."""
    hub.fail("POST .*/check-runs", 201, body)

    outcome = post(lines(60), parts=("check",))["check"]

    assert State.FAILED is outcome.state
    assert [] == hub.lines("PATCH")


# --- the summary -----------------------------------------------------------------------------------------------------


def test_github_summary_is_appended_once(post):
    """What other commands of the step wrote stays; the same result is not written twice."""
    post.summary.write_text("# Tests\nall green", encoding="utf-8")

    outcome = post(parts=("summary",))["summary"]

    text = post.summary.read_text(encoding="utf-8")
    assert "written (12.50 of 100.00 points)" == outcome.text
    assert text.startswith("# Tests\nall green\n\n## Attention: 12.50 of 100.00 points\n")
    assert State.UNCHANGED is post(parts=("summary",))["summary"].state
    assert text == post.summary.read_text(encoding="utf-8")


def test_github_summary_keeps_the_step_below_its_limit(post):
    """Beyond 1 MiB a runner drops all of it: what is there counts, and what is missing is said."""
    post.summary.write_bytes(b"x" * (2**20 - 3000))
    checks = [make_check(id=f"c{n}", message=f"{n}" + "ä" * 600) for n in range(9)]

    post(make_submission(checks=checks), parts=("summary",))

    content = post.summary.read_bytes()
    assert 2**20 - 1500 < len(content) <= 2**20
    assert content.endswith(b"All of it is in the report of the run.\n")


def test_github_summary_without_room_is_told(post):
    """Nothing is appended that would drop all the rest."""
    post.summary.write_bytes(b"x" * 2**20)

    outcome = post(parts=("summary",))["summary"]

    assert (State.FAILED, 2**20) == (outcome.state, post.summary.stat().st_size)
    assert "leaves no room below 1 MiB" in outcome.text


def test_github_summary_that_cannot_be_written_is_told(post, tmp_path):
    """A folder that is not there."""
    post.summary.mkdir()

    outcome = post(parts=("summary",))["summary"]

    assert State.FAILED is outcome.state
    assert "cannot be written (Is a directory)" in outcome.text


# --- hostile students ------------------------------------------------------------------------------------------------


def test_github_hostile_student_writes_no_annotation_elsewhere(hub, post):
    """Messages may quote what a student chose: only lines of files that were handed in are taken, and never outside."""
    message = (
        "error ../../.github/workflows/ci.yml, line 3\n/etc/passwd.py, line 4\n../x.py, line 5\nother.py, line 6\n"
        "xsingle_head.py, line 7\nsingle_head.py, line 99999999999\nsingle_head.py, line 0"
    )
    files = [SourceFile(name=name, sha256="0" * 64) for name in ("single_head.py", "../x.py", "/etc/passwd.py")]

    post(make_submission(files=files, checks=[make_check(message=message)]), parts=("check",))

    assert [] == hub.annotations[hub.check_runs[0]["id"]]


def test_github_hostile_text_is_plain_in_annotations(hub, post):
    """No escape sequence, nothing that reorders or hides."""
    message = f"{HOSTILE}\n  at        single_head.py, line 3, in f:  x"

    post(make_submission(checks=[make_check(message=message, title="T\u202e\nx")]), parts=("check",))

    (annotation,) = hub.annotations[hub.check_runs[0]["id"]]
    assert "⟨U+001B⟩[31m⟨U+202E⟩gnp" in annotation["message"]
    assert annotation["title"].isprintable()


def test_github_annotation_is_one_a_line_and_names_what_else_is_there(hub, post):
    """A diagnosis with a line, two checks at the same one, a note: what is gravest comes first."""
    same = "f(x) raised an error\n  at        single_head.py, line 10, in f:  x"
    submission = make_submission(
        checks=[
            make_check(id="test_single_head.py::test_values", message=same),
            make_check(id="b", title="Second", message=same),
        ],
        diagnoses=[make_diagnosis(evidence="The gradient ends in single_head.py, line 10, at detach")],
        notes=["single_head.py, line 4: seaborn is not installed here; graded without it"],
    )

    post(submission, parts=("check",))

    note, failure = hub.annotations[hub.check_runs[0]["id"]]
    assert (4, "notice", "Noticed on the way") == (note["start_line"], note["annotation_level"], note["title"])
    assert (10, "failure", "Output and weights are right: wrong value (and 2 more)") == (
        failure["start_line"],
        failure["annotation_level"],
        failure["title"],
    )
    assert 1 == failure["message"].count("f(x) raised an error")
    assert "- Second: wrong value\n- The scores are divided by d" in failure["message"]
