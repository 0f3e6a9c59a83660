"""Where a result belongs on GitHub, from options and from the events of workflows."""

import json

import pytest

from grader.post.errors import WrongUse
from grader.post.target import Target, read_target

REPOSITORY = "school/hw4-ada"
SHA = "5ac31b9f4e0d27168cbb0e7c5f6de2f1a98d4410"
OTHER = "0" * 39 + "1"


@pytest.fixture
def target_of(tmp_path):
    """The target that an event and options give."""

    def read(event=None, repository=None, pull=None, sha=None, **environ):
        path = tmp_path / "event.json"
        path.write_text(json.dumps(event if event is not None else {}), encoding="utf-8")
        told = {"GITHUB_REPOSITORY": REPOSITORY, "GITHUB_EVENT_PATH": str(path)}
        return read_target(repository, pull, sha, told | environ)

    return read


def pull_request(home=REPOSITORY, **fields):
    """The event of a pull request from a repository."""
    head = {"sha": SHA, "ref": "work", "repo": home and {"full_name": home}}
    return {"number": 7, "pull_request": {"number": 7, "title": "::error::@all", "head": head} | fields}


def workflow_run(pulls, owner="ada"):
    """The event of a workflow that follows another."""
    head = {"full_name": f"{owner}/hw4-ada", "owner": {"login": owner}}
    return {
        "workflow_run": {"head_sha": SHA, "head_branch": "work", "head_repository": head, "pull_requests": pulls},
    }


def test_target_of_a_pull_request_is_its_head(target_of):
    """Not the merge commit that GITHUB_SHA names, which no student ever wrote."""
    wanted = Target(repository=REPOSITORY, pull=7, sha=SHA, is_read_only=False)

    assert wanted == target_of(pull_request(), GITHUB_SHA=OTHER, GITHUB_EVENT_NAME="pull_request")


@pytest.mark.parametrize("home", ["ada/hw4-ada", None])
def test_target_of_a_fork_has_a_token_that_reads_only(target_of, home):
    """Also where the fork is gone by now."""
    assert target_of(pull_request(home), GITHUB_EVENT_NAME="pull_request").is_read_only


def test_target_of_a_fork_with_a_full_token_may_write(target_of):
    """`pull_request_target` runs with the rights of the repository."""
    assert not target_of(pull_request("ada/hw4-ada"), GITHUB_EVENT_NAME="pull_request_target").is_read_only


def test_target_of_dependabot_has_a_token_that_reads_only(target_of):
    """Its pull requests are treated like a fork's."""
    assert target_of(pull_request(), GITHUB_ACTOR="dependabot[bot]").is_read_only


def test_target_of_a_push_is_its_newest_commit_and_branch(target_of):
    """The branch's pull request is looked up."""
    event = {"ref": "refs/heads/feature/x", "after": SHA, "before": OTHER, "deleted": False}

    assert Target(repository=REPOSITORY, sha=SHA, head="school:feature/x") == target_of(event)


def test_target_of_a_pushed_tag_has_no_branch(target_of):
    """A commit to check, and no pull request."""
    assert Target(repository=REPOSITORY, sha=SHA) == target_of({"ref": "refs/tags/v1", "after": SHA})


def test_target_of_a_deleted_branch_is_refused(target_of):
    """Its commit is all zeros."""
    with pytest.raises(WrongUse, match="the deletion of a branch"):
        target_of({"ref": "refs/heads/x", "after": "0" * 40, "deleted": True})


def test_target_of_a_workflow_run_is_that_of_the_run_before(target_of):
    """With the number of the pull request, which a run of the same repository has."""
    wanted = Target(repository=REPOSITORY, pull=7, sha=SHA, head="school:work", is_read_only=False)

    assert wanted == target_of(workflow_run([{"number": 7, "head": {"sha": SHA}}], "school"))


def test_target_of_a_workflow_run_of_a_fork_is_looked_up_by_its_branch(target_of):
    """GitHub names no pull request there; the token is the repository's own."""
    wanted = Target(repository=REPOSITORY, sha=SHA, head="ada:work", is_read_only=False)

    assert wanted == target_of(workflow_run([]))


def test_target_started_by_hand_is_the_branch_it_was_started_on(target_of):
    """`workflow_dispatch` names neither."""
    wanted = Target(repository=REPOSITORY, sha=SHA, head="school:main")

    assert wanted == target_of({"inputs": {}}, GITHUB_SHA=SHA, GITHUB_REF="refs/heads/main")


def test_target_options_come_first(target_of):
    """Another pull request than that of the event has another commit."""
    wanted = Target(repository=REPOSITORY, pull=9, sha=None, is_read_only=False)

    assert wanted == target_of(pull_request(), pull=9)
    assert SHA == target_of(pull_request(), pull=7).sha
    assert (7, OTHER) == (target_of(pull_request(), sha=OTHER).pull, target_of(pull_request(), sha=OTHER).sha)


def test_target_of_another_repository_takes_nothing_from_the_event(target_of):
    """A course's workflow that posts to a student's repository."""
    assert Target(repository="ada/hw4", pull=7) == target_of(pull_request(), repository="ada/hw4", pull=7)
    assert Target(repository="ada/hw4", sha=SHA) == target_of(pull_request(), repository="ada/hw4", sha=SHA)


def test_target_outside_of_a_workflow_needs_options():
    """And says which."""
    with pytest.raises(WrongUse, match=r"GITHUB_REPOSITORY: got '', wanted OWNER/NAME; .* give --repo"):
        read_target(None, None, None, {})
    with pytest.raises(WrongUse, match="give --pr or --sha"):
        read_target(REPOSITORY, None, None, {})


@pytest.mark.parametrize("name", ["hw4", "a/b/c", "a/../b", "a/..", "a/.", "a/b?x", "a/b\n", "ä/b", "/b", "a/"])
def test_target_repository_of_another_form_is_refused(name):
    """It becomes a part of addresses."""
    with pytest.raises(WrongUse, match="--repo: got"):
        read_target(name, 1, None, {})


@pytest.mark.parametrize("sha", ["HEAD", SHA[:10], SHA.upper(), f"{SHA}\n", "../../x"])
def test_target_commit_of_another_form_is_refused(sha):
    """Short names are ambiguous, and GitHub takes none."""
    with pytest.raises(WrongUse, match="--sha: got"):
        read_target(REPOSITORY, None, sha, {})


@pytest.mark.parametrize(
    "event",
    [
        {"pull_request": {"number": "7/../8", "head": {"sha": "x"}}},
        {"pull_request": {"number": True, "head": []}},
        {"pull_request": "text"},
        {"workflow_run": {"head_sha": 5, "pull_requests": [[]], "head_repository": None}},
        {"after": "../..", "ref": 4},
        {"after": "0" * 40, "ref": "refs/heads/x"},
        [],
    ],
)
def test_target_takes_nothing_of_another_form_from_an_event(target_of, event):
    """An event is made of what others chose; without a number and a hash there is nothing to post about."""
    with pytest.raises(WrongUse, match="neither a pull request nor a commit is known"):
        target_of(event)


@pytest.mark.parametrize("content", ["{", None])
def test_target_event_that_cannot_be_read_is_told(tmp_path, content):
    """With what to give instead."""
    path = tmp_path / "event.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")

    with pytest.raises(WrongUse, match=r"GITHUB_EVENT_PATH: .* cannot be read .* give --repo, --pr and --sha"):
        read_target(None, None, None, {"GITHUB_REPOSITORY": REPOSITORY, "GITHUB_EVENT_PATH": str(path)})
