"""`grade post` as a person or a workflow runs it: exit codes, what is printed, what is never printed."""

import json
import signal

import pytest
from click.testing import CliRunner
from conftest import Command, environment, finish, wait_until
from fake_canvas import FakeCanvas
from fake_github import PULL, REPOSITORY, SHA, FakeGitHub
from sample_report import make_check, make_report, make_submission

from grader.cli import main
from grader.handed_in import Person
from grader.report_json import to_json

#: Commands of a runner, as a student would plant them.
COMMANDS = "::error::x\n::add-mask::a\n::stop-commands::t\r\n  ::set-env name=A::b ##[group]g ##vso[task.complete]"
SETTINGS = ("GITHUB_", "GH_", "CANVAS_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


@pytest.fixture(scope="module")
def github_server():
    """A GitHub of this module."""
    server = FakeGitHub()
    yield server
    server.close()


@pytest.fixture(scope="module")
def canvas_server():
    """A Canvas of this module."""
    server = FakeCanvas()
    yield server
    server.close()


@pytest.fixture
def hub(github_server):
    """GitHub after a push."""
    github_server.reset()
    yield github_server
    github_server.released.set()


@pytest.fixture
def lms(canvas_server):
    """Canvas before grading."""
    canvas_server.reset()
    yield canvas_server
    canvas_server.released.set()


@pytest.fixture
def folder(tmp_path):
    """A folder with a report of one student in it, and what a runner hands to a step."""
    write(tmp_path, make_submission(people=[Person(lms_id="101", name="Ada Kovač")]))
    head = {"sha": SHA, "ref": "work", "repo": {"full_name": REPOSITORY}}
    event = {"pull_request": {"number": PULL, "title": COMMANDS, "head": head}}
    (tmp_path / "event.json").write_text(json.dumps(event), encoding="utf-8")
    return tmp_path


def write(folder, *submissions):
    """Write the report that the command reads."""
    (folder / "report").mkdir(exist_ok=True)
    (folder / "report" / "report.json").write_text(to_json(make_report(*submissions)), encoding="utf-8")


def plain_environment(**more):
    """A shell's environment, without what a workflow sets here."""
    kept = {name: value for name, value in environment().items() if not name.upper().startswith(SETTINGS)}
    return kept | more


def workflow(folder, hub, **more):
    """What a runner sets for a step of a pull request's workflow."""
    return plain_environment(
        GITHUB_ACTIONS="true",
        GITHUB_API_URL=hub.api,
        GITHUB_REPOSITORY=REPOSITORY,
        GITHUB_EVENT_NAME="pull_request",
        GITHUB_EVENT_PATH=str(folder / "event.json"),
        GITHUB_STEP_SUMMARY=str(folder / "summary.md"),
        GITHUB_TOKEN=hub.token,
        **more,
    )


@pytest.fixture
def run(folder, monkeypatch):
    """Run the command in this process, where starting another would show nothing more."""
    monkeypatch.chdir(folder)

    def invoke(*arguments, env):
        changed = dict.fromkeys(environment()) | env
        return CliRunner(env=changed).invoke(main, ["post", *arguments], prog_name="grade")

    return invoke


def is_read_as_command(line):
    """Whether a runner would take a line for a command (actions/runner, ActionCommand.cs)."""
    return line.lstrip().startswith("::") or "##[" in line or "##vso" in line


def test_post_github_in_a_workflow_needs_no_options(folder, hub):
    """Everything is in the environment; run twice, there is one comment and one check."""
    grade = Command(folder)

    first = grade.run("post", "github", "report", env=workflow(folder, hub))
    second = grade.run("post", "github", "report/report.json", env=workflow(folder, hub))

    assert (0, "") == (first.returncode, first.stderr)
    assert (
        "sent       comment: created (pull request 7)\n"
        "sent       check: created (commit 5ac31b9f4e, failure, 0 at lines)\n"
        "sent       summary: written (12.50 of 100.00 points)\n"
    ) == first.stdout
    assert 0 == second.returncode
    assert 3 == second.stdout.count("unchanged  ")
    assert (1, 1) == (len(hub.comments), len(hub.check_runs))


def test_post_github_posts_one_student_under_a_name_of_its_own(folder, run, hub):
    """Where several are on one pull request; what is left out is not sent."""
    write(folder, make_submission(), make_submission(id="bela ✓", score=30))
    options = ["--student", "bela ✓", "--name", "hw4 -- B", "--path", "hw4/", "--without", "summary"]

    done = run("github", "report", *options, env=workflow(folder, hub))

    assert 0 == done.exit_code
    assert hub.comments[0]["body"].startswith(
        "<!-- grade: hw4%20%2D%2D%20B -->\n\n## Attention: 30.00 of 100.00 points"
    )
    assert "grade: hw4 -- B" == hub.check_runs[0]["name"]
    assert not (folder / "summary.md").exists()


def test_post_github_of_a_fork_is_a_success_with_the_summary(folder, run, hub):
    """And the log says why there is no more."""
    hub.permissions = set()
    event = json.loads((folder / "event.json").read_text(encoding="utf-8"))
    event["pull_request"]["head"]["repo"]["full_name"] = "ada/hw4-ada"
    (folder / "event.json").write_text(json.dumps(event), encoding="utf-8")

    done = run("github", "report", env=workflow(folder, hub))

    assert 0 == done.exit_code
    assert 2 == done.stdout.count("the token of this run may read and not write, as for a pull request from a fork")
    assert "Only this summary was posted" in (folder / "summary.md").read_text(encoding="utf-8")


def test_post_github_that_is_refused_ends_with_1_and_no_token(folder, hub):
    """Even where the server repeats it."""
    hub.fail("POST .*(comments|check-runs)", 422, {"message": f"{COMMANDS} Bearer {hub.token}"}, times=9)

    done = Command(folder).run("post", "github", "report", env=workflow(folder, hub))

    assert 1 == done.returncode
    assert hub.token not in done.stdout + done.stderr
    assert "answered 422" in done.stdout
    assert [] == [line for line in (done.stdout + done.stderr).splitlines() if is_read_as_command(line)]


@pytest.mark.parametrize("arguments", [("github", "--dry-run"), ("github",), ("canvas", "--dry-run")])
def test_post_hostile_student_commands_no_runner(folder, run, hub, arguments):
    """Whatever is printed, no line of it is a command; what was planted reads back from the JSON all the same."""
    person = Person(name=f"A {COMMANDS}", lms_id="", login=COMMANDS)
    write(folder, make_submission(id=COMMANDS, people=[person], checks=[make_check(message=COMMANDS, output=COMMANDS)]))
    where = ["--url", "https://canvas.example.edu", "--course", "1", "--assignment", "2"]
    platform, *options = [*arguments, *(where if arguments[0] == "canvas" else [])]

    done = run(platform, "report", *options, env=workflow(folder, hub))

    assert 0 == done.exit_code
    assert [] == [line for line in (done.stdout + done.stderr).splitlines() if is_read_as_command(line)]


def test_post_student_that_is_not_there_commands_no_runner(folder, run, hub):
    """The names in a message were chosen by students."""
    write(folder, make_submission(id=COMMANDS), make_submission(id="bela"))

    for options in ([], ["--student", "ada"]):
        done = run("github", "report", *options, env=workflow(folder, hub))

        assert 2 == done.exit_code
        assert "bela" in done.stderr
        assert [] == [line for line in done.stderr.splitlines() if is_read_as_command(line)]


def test_post_github_dry_run_needs_no_token_and_no_network(run):
    """Method, address and body of each request, as JSON."""
    options = ["--repo", "school/hw4", "--pr", "3", "--sha", SHA, "--url", "https://ghe.example.edu/api/v3"]

    done = run("github", "report", "--dry-run", *options, env=plain_environment())

    assert (0, "") == (done.exit_code, done.stderr)
    comment, check, summary = done.stdout.split("\nPOST ")[0], done.stdout.split("\nPOST ")[1], done.stdout
    place, _, body = comment.partition("\n")
    assert "POST https://ghe.example.edu/api/v3/repos/school/hw4/issues/3/comments" == place
    assert json.loads(body)["body"].startswith("<!-- grade: attention -->\n\n## Attention")
    assert check.startswith("https://ghe.example.edu/api/v3/repos/school/hw4/check-runs\n")
    assert "\nAPPEND $GITHUB_STEP_SUMMARY\n" in summary


def test_post_canvas_sends_tells_and_counts(folder, lms):
    """A line a student; a second run sends nothing."""
    write(
        folder,
        make_submission(people=[Person(lms_id="101", name="Ada Kovač")]),
        make_submission(id="bela", people=[Person(login="nobody")]),
        make_submission(id="chidi", status="grader_error", score=None, reason="died"),
    )
    options = ["--url", lms.url, "--course", 11, "--assignment", 22]
    told = plain_environment(CANVAS_TOKEN=lms.token)

    first = Command(folder).run("post", "canvas", "report", *options, env=told)
    second = Command(folder).run("post", "canvas", "report", *options[2:], env=told | {"CANVAS_URL": f"{lms.url}/"})

    assert (1, "") == (first.returncode, first.stderr)
    assert (
        "sent       ada (Ada Kovač): 12.50 (grade, was none, comment)\n"
        "failed     bela (nobody): nobody in the course on Canvas has 'nobody' as login, e-mail address or number\n"
        "left alone chidi: there is no score\n"
        "1 sent, 1 left alone, 1 failed\n"
    ) == first.stdout
    assert second.stdout.startswith("unchanged  ada (Ada Kovač): 12.50\n")
    assert 1 == len(lms.lines("^PUT"))


def test_post_canvas_dry_run_needs_no_token_and_no_network(folder, run):
    """Who has no Canvas id yet is named by what they will be looked up with."""
    write(
        folder,
        make_submission(people=[Person(lms_id="101")]),
        make_submission(id="b", people=[Person(login="jose")]),
    )
    options = ["--url", "https://canvas.example.edu", "--course", "11", "--assignment", "22", "--no-comments"]

    done = run("canvas", "report", "--dry-run", *options, env=plain_environment())

    base = "PUT https://canvas.example.edu/api/v1/courses/11/assignments/22/submissions"
    body = '{\n  "submission": {\n    "posted_grade": "12.50"\n  }\n}\n'
    assert 0 == done.exit_code
    assert f"{base}/101\n{body}{base}/(the student with jose)\n{body}" == done.stdout


def test_post_canvas_interrupted_ends_with_130_and_says_how_to_go_on(folder, lms):
    """What was sent stays."""
    lms.fail("PUT", hangs=True)
    options = ["--url", lms.url, "--course", 11, "--assignment", 22]
    with Command(folder).start(
        "post", "canvas", "report", *options, env=plain_environment(CANVAS_TOKEN=lms.token)
    ) as process:
        wait_until(lambda: lms.lines("^PUT"), "the first grade is under way")

        process.send_signal(signal.SIGINT)
        done = finish(process)

    assert 130 == done.returncode
    assert "grade: interrupted; what was sent stays, and running this again goes on from there" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["github", "report"], "GITHUB_REPOSITORY: got '', wanted OWNER/NAME"),
        (["github", "report", "--repo", "a/b", "--pr", "1"], "no token: set GITHUB_TOKEN or GH_TOKEN"),
        (["github", "nothing", "--repo", "a/b", "--pr", "1"], "nothing does not exist; wanted a report's folder"),
        (["github", "event.json", "--repo", "a/b", "--pr", "1"], "event.json, pull_request: got {"),
        (["github", "report", "--repo", "a/b", "--pr", "1", "--url", "http://api.example.edu"], "wanted https://"),
        (["github", "report", "--repo", "a/b", "--pr", "1", "--path", "../x"], "--path: got '../x', wanted a folder"),
        (["canvas", "report", "--course", "1", "--assignment", "2"], "--url: wanted the address of Canvas"),
        (
            ["canvas", "report", "--course", "1", "--assignment", "2", "--url", "https://c.example.edu"],
            "no token: set CANVAS_TOKEN",
        ),
        (
            ["canvas", "report", "--course", "CS", "--assignment", "2", "--url", "https://c.example.edu"],
            "--course: got",
        ),
    ],
)
def test_post_wrong_use_ends_with_2_and_one_line(run, arguments, words):
    """Where, what was found, what was wanted; nothing was sent."""
    done = run(*arguments, env=plain_environment())

    assert (2, "") == (done.exit_code, done.stdout)
    assert done.stderr.startswith("grade: ") and 1 == len(done.stderr.splitlines())
    assert words in done.stderr
