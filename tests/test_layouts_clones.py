"""A folder of git clones: users by name, times by the last commit, and clones that were made to be harmful."""

import os
import shutil
import zlib
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from class_files import Class, commit, git

from grader.handed_in import HandIn, Person, TimeSource
from grader.layouts.last_commit import NoCommit, commit_reader

INDIA = timezone(timedelta(hours=5, minutes=30))
WHEN = datetime(2026, 3, 1, 10, 0, tzinfo=INDIA)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A clone with one commit, never to be changed."""
    return commit(tmp_path_factory.mktemp("clones") / "hw1-ada", {"mix.py": "x"})


@pytest.fixture
def clone(repository, tmp_path):
    """A copy of it."""
    return Path(shutil.copytree(repository, tmp_path / "hw1-ada", symlinks=True))


def time_of(folder):
    """The time of its last commit."""
    with commit_reader() as reader:
        return reader.time_of(folder)


def refusal(folder):
    """Why there is none."""
    with pytest.raises(NoCommit) as refused:
        time_of(folder)
    return str(refused.value)


def test_clones_of_an_assignment_tell_users_and_times(tmp_path):
    """`gh classroom` names a folder after the assignment and the user, who may have hyphens."""
    together = tmp_path / "hw-1-submissions"
    commit(together / "hw-1-ada", {"mix.py": "a"})
    commit(together / "hw-1-bob-k", {"mix.py": "b"}, date="2026-03-02T10:00:00 -0800")

    found = Class(tmp_path)

    assert "Git clones: 2 repositories of hw-1" == found.summary
    assert {"hw-1-ada": {"mix.py": "a"}, "hw-1-bob-k": {"mix.py": "b"}} == found.files
    assert (Person(login="bob-k"),) == found.found["hw-1-bob-k"].people
    assert HandIn(source=TimeSource.GIT, time=WHEN) == found.found["hw-1-ada"].handed_in


def test_clones_among_other_folders_have_times(tmp_path):
    """A mixed class stays what it is; without a common beginning no user is guessed."""
    commit(tmp_path / "ada", {"mix.py": "a"})
    commit(tmp_path / "bob", {"mix.py": "b"})
    (tmp_path / "cyd").mkdir()

    found = Class(tmp_path)

    assert "Submissions: 3 folders; 2 repositories" == found.summary
    assert () == found.found["ada"].people
    assert WHEN == found.found["ada"].handed_in.time
    assert None is found.found["cyd"].handed_in


def test_clone_alone_is_one_submission_with_a_time(clone):
    """`grade .` in one's own clone."""
    found = Class(clone)

    assert WHEN == found.found["hw1-ada"].handed_in.time


def test_last_commit_is_that_of_head_whatever_branch(clone):
    """The branch that is checked out counts, also one with a slash, detached, or packed."""
    git(clone, "checkout", "-q", "-b", "feature/x")
    commit(clone, {"mix.py": "y"}, date="2026-03-05T00:00:00 +0000")
    later = datetime(2026, 3, 5, tzinfo=UTC)

    assert later == time_of(clone)
    git(clone, "pack-refs", "--all")
    git(clone, "gc", "-q")
    assert later == time_of(clone)
    git(clone, "checkout", "-q", "--detach", "main")
    assert WHEN == time_of(clone)


def test_last_commit_is_not_what_a_message_or_a_name_says(clone):
    """A line in the message that looks like the committer's, and a committer whose name does."""
    forged = "committer Eve <e@x> 1 +0000"
    git(clone, "-c", f"user.name={forged}", "commit", "-q", "--allow-empty", "-m", f"x\n\n{forged}\n")

    assert WHEN == time_of(clone)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("", "its HEAD is damaged, or of another form of git"),
        ("ref: refs/heads/../../../x\n", "its HEAD is damaged, or of another form of git"),
        ("ref: refs/heads/none\n", "it has no commit yet, or is of another form of git"),
        ("f" * 40 + "\n", "its last commit is missing or damaged; clone it again"),
        ("ref: refs/heads/" + "x" * 5000, "its .git cannot be read: it is larger than git writes it"),
    ],
)
def test_last_commit_of_a_damaged_clone_is_explained(clone, head, said):
    """Nothing outside of `.git` is read for it."""
    (clone / ".git" / "HEAD").write_text(head)

    assert said == refusal(clone)


def test_clone_without_a_commit_is_graded_and_told(tmp_path):
    """Only the time is missing."""
    for user in ("ada", "bob"):
        commit(tmp_path / f"hw-{user}", {"mix.py": "x"})
    (tmp_path / "hw-bob" / ".git" / "HEAD").write_text("nonsense")

    found = Class(tmp_path)

    assert {"mix.py": "x"} == found.files["hw-bob"]
    assert None is found.found["hw-bob"].handed_in
    assert [
        "hw-bob: the time of the last commit is not known: its HEAD is damaged, or of another form of git"
    ] == found.remarks


def test_clone_runs_nothing_that_it_configures(clone, tmp_path):
    """Every program that git can be told to run by a repository: none of them is."""
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    config = clone / ".git" / "config"
    with config.open("a") as file:
        file.write(
            f"[core]\n\tfsmonitor = {trap}\n\thooksPath = {tmp_path}\n\tpager = {trap}\n\tsshCommand = {trap}\n"
            f"\tgitProxy = {trap}\n\taskPass = {trap}\n\talternateRefsCommand = {trap}\n"
            f"[gpg]\n\tprogram = {trap}\n[log]\n\tshowSignature = true\n[alias]\n\tcat-file = !{trap}\n"
            f"[diff]\n\texternal = {trap}\n[extensions]\n\tpartialClone = origin\n"
            f'[remote "origin"]\n\turl = ext::{trap}\n\tpromisor = true\n\tuploadpack = {trap}\n[include]\n\tpath = x\n'
        )
    head = git(clone.parent, "--git-dir", str(clone / ".git"), "-c", "core.fsmonitor=", "rev-parse", "HEAD")

    assert WHEN == time_of(clone)
    (clone / ".git" / "objects" / head[:2] / head[2:]).unlink()
    assert "its last commit is missing or damaged; clone it again" == refusal(clone)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("what", ["folder", "file"])
def test_clone_whose_git_leads_elsewhere_is_none(clone, repository, what):
    """A link, and a file that names another place: somebody else's commits are not this student's."""
    os.rename(clone / ".git", clone / "hidden")
    if what == "folder":
        (clone / ".git").symlink_to(repository / ".git")
    else:
        (clone / ".git").write_text(f"gitdir: {repository}/.git\n")

    assert None is Class(clone).found["hw1-ada"].handed_in


@pytest.mark.parametrize("name", ["HEAD", "refs"])
def test_clone_with_links_in_git_is_not_followed(clone, repository, name):
    """The same inside of `.git`."""
    os.rename(clone / ".git" / name, clone / ".git" / "old")
    (clone / ".git" / name).symlink_to(repository / ".git" / name)

    refusal(clone)


def test_clone_with_a_commit_of_gigabytes_takes_no_memory(clone):
    """A few hundred KiB on the disk claim much more."""
    body = b"committer Eve <eve@uni.example> 1 +0000\n\n" + b"x" * (70 << 20)
    sha = "ab" + "0" * 38
    place = clone / ".git" / "objects" / sha[:2]
    place.mkdir(exist_ok=True)
    (place / sha[2:]).write_bytes(zlib.compress(b"commit %d\0" % len(body) + body, 1))
    (clone / ".git" / "HEAD").write_text(sha + "\n")

    assert "its last commit is missing or damaged; clone it again" == refusal(clone)


def test_clones_without_git_have_no_times(tmp_path, monkeypatch):
    """It is said once."""
    for user in ("ada", "bob"):
        commit(tmp_path / f"hw-{user}", {"mix.py": "x"})
    monkeypatch.setenv("PATH", str(tmp_path))

    found = Class(tmp_path)

    assert ["git is not installed: the times of the last commits are not known"] == found.remarks
    assert (Person(login="ada"),) == found.found["hw-ada"].people
