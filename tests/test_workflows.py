"""The GitHub action and the workflows around it: what they may do, what they keep apart, what the action's steps do."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml
from conftest import DOUBLE, PATIENCE_S, write_files

from grader.cli import main

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
FILES = sorted((ROOT / ".github").rglob("*.yml"))
#: `on` is a Boolean in the YAML that PyYAML reads.
WORKFLOWS = {file.name: yaml.safe_load(file.read_text(encoding="utf-8")) for file in FILES}
EVENTS = {name: set(workflow[True]) for name, workflow in WORKFLOWS.items()}
JOBS = {f"{name}, {job}": found for name, workflow in WORKFLOWS.items() for job, found in workflow["jobs"].items()}
STEPS = {
    **{f"action.yml, {step['name']}": step for step in ACTION["runs"]["steps"]},
    **{f"{name}, {number}": step for name, job in JOBS.items() for number, step in enumerate(job["steps"])},
}
SCRIPTS = {name: step["run"] for name, step in STEPS.items() if "run" in step}
#: Words that stand in a script for what is only known when it runs.
EXAMPLES = {"ISOLATION": "best", "FAIL_UNDER": "50"}


def steps_with(action):
    """Steps that use an action, by place."""
    return {name: step for name, step in STEPS.items() if step.get("uses", "").partition("@")[0] == action}


def grades(step):
    """Whether a step has students' code run."""
    return step.get("uses") in ("./", "./course") and "report" not in step["with"]


def test_workflows_are_found():
    """The rules below are about something."""
    examples = ("course-repository", "grade-hand-in", "hand-in", "handout-repository", "student-repository")

    assert {"ci.yml", *(f"{name}.yml" for name in examples)} == set(WORKFLOWS)
    assert 4 == sum(map(grades, STEPS.values()))


@pytest.mark.parametrize("name", [name for name, step in STEPS.items() if grades(step)])
def test_workflows_what_one_student_handed_in_is_never_taken_for_a_class(name):
    """A folder can be made to look like a download in which others handed in, at other times."""
    inputs = STEPS[name]["with"]

    assert inputs["submissions"].endswith("/student") == (inputs.get("single") == "true")


# --- rules ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", [*FILES, ROOT / "action.yml"], ids=lambda file: file.name)
def test_workflows_actions_are_pinned_to_a_commit(file):
    """A tag can be moved to other code; the version stands beside the commit, for people."""
    used = re.findall(r"uses: (.*)", file.read_text(encoding="utf-8"))

    assert [] == [one for one in used if not re.fullmatch(r"\./\S*|[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one)]


@pytest.mark.parametrize("name", SCRIPTS)
def test_workflows_scripts_hold_no_expression(name):
    """What GitHub puts into a script becomes code, and titles, branches and names are chosen by students."""
    assert "${{" not in SCRIPTS[name]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_workflows_permissions_are_stated_and_read_at_most(name):
    """What a job needs beyond, it asks for by itself."""
    permissions = WORKFLOWS[name]["permissions"]

    assert {} == {scope: access for scope, access in permissions.items() if access != "read"}


@pytest.mark.parametrize("name", JOBS)
def test_workflows_job_that_may_write_runs_no_students_code(name):
    """Were there a way out of the sandbox, it would lead to nothing that can be changed."""
    job = JOBS[name]
    may_write = "write" in job.get("permissions", {}).values()

    assert not (may_write and any(map(grades, job["steps"])))
    assert "timeout-minutes" in job


def test_workflows_full_rights_are_never_given_to_a_pull_requests_own_event():
    """`pull_request_target` has secrets and a writing token beside what a stranger proposes."""
    assert [] == [name for name, events in EVENTS.items() if "pull_request_target" in events]


@pytest.mark.parametrize("name", steps_with("actions/checkout"))
def test_workflows_checkouts_leave_no_token_behind(name):
    """It would lie in .git/config, beside what is graded."""
    assert steps_with("actions/checkout")[name]["with"]["persist-credentials"] is False


@pytest.mark.parametrize("name", steps_with("actions/checkout"))
def test_workflows_what_a_stranger_wrote_is_checked_out_only_where_there_is_nothing_to_take(name):
    """By the event of the pull request itself, which has no secrets."""
    step = steps_with("actions/checkout")[name]

    if "github.event" in str(step["with"]):
        assert EVENTS[name.partition(",")[0]] == {"pull_request"}
        assert "secrets." not in str(WORKFLOWS[name.partition(",")[0]])


@pytest.mark.parametrize("name", JOBS)
def test_workflows_secrets_reach_single_steps_only(name):
    """Not a whole job, whose every process could read them; and no step that has students' code run."""
    job = JOBS[name]

    assert "secrets." not in str(job.get("env", ""))
    assert [] == [step for step in job["steps"] if grades(step) and "secrets." in str(step)]


def test_workflows_reports_are_kept_where_students_cannot_read_them():
    """Whole in the course's own repository; elsewhere locked, and gone after a day."""
    kept = {name: step["with"] for name, step in steps_with("actions/upload-artifact").items()}

    assert {
        "course-repository.yml, grade, 3": ("${{ runner.temp }}/grade-report", 90),
        "grade-hand-in.yml, grade, 4": ("report.locked", 1),
        "hand-in.yml, keep, 1": ("hand-in/**/*.py\nhand-in/**/*.ipynb\n", 7),
    } == {name: (one["path"], one["retention-days"]) for name, one in kept.items()}


# --- commands ---------------------------------------------------------------------------------------------------


def commands_in(script):
    """Words of each `grade ...` in a script, with examples for what is only known when it runs."""
    lines = script.replace("\\\n", " ").splitlines()
    for line in lines:
        if not line.strip().startswith("grade "):
            continue
        line = re.sub(r"\$\{(\w+):\+([^}]*)\}", r"\2", line)  # as if it were set
        line = re.sub(r"\$\{(\w+):-[^}]*\}", r"$\1", line)
        line = re.sub(r"\$(\w+)", lambda match: EXAMPLES.get(match[1], match[1].lower()), line)
        words = shlex.split(line.partition("||")[0])
        yield [word for word in words if not re.match(r"\d?>", word)][1:]


COMMANDS = [words for script in SCRIPTS.values() for words in commands_in(script)]


def must_parse(command, words, parent=None):
    """Have the command line read these words, and run nothing."""
    context = command.make_context(words[0] if words else "grade", list(words), parent=parent)
    if isinstance(command, click.Group):
        _, found, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        must_parse(found, rest, context)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_workflows_commands_are_those_of_the_command_line(words):
    """An option that is renamed breaks here, and not in a course."""
    must_parse(main, words)


def test_workflows_commands_are_read():
    """The test above is about something."""
    assert {"run"} <= {words[0] for words in COMMANDS}
    with pytest.raises(click.UsageError):
        must_parse(main, ["run", "folder", "--no-such-option"])


@pytest.mark.parametrize("name", [name for name, step in STEPS.items() if step.get("uses") in ("./", "./course")])
def test_workflows_inputs_are_those_of_the_action(name):
    """GitHub only warns of an input that does not exist."""
    assert set() == set(STEPS[name]["with"]) - set(ACTION["inputs"])


@pytest.mark.parametrize("name", SCRIPTS)
def test_workflows_scripts_are_bash(name):
    """As far as bash can tell without running them."""
    done = subprocess.run(["bash", "-n"], input=SCRIPTS[name], text=True, capture_output=True, check=False)

    assert (0, "") == (done.returncode, done.stderr)


# --- the action's steps, run ------------------------------------------------------------------------------------


class Runner:
    """Runs the scripts of action.yml as GitHub does, in a folder of its own; `grade` is that of this repository."""

    def __init__(self, folder, **inputs):
        self.folder = folder
        self.values = {f"inputs.{name}": one.get("default", "") for name, one in ACTION["inputs"].items()}
        self.values |= {f"inputs.{name.replace('_', '-')}": str(value) for name, value in inputs.items()}
        for name, arguments in {"grade": "-P -m grader", "python": ""}.items():
            text = f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n'
            path = write_files(folder, {f"grader/bin/{name}": text}) / "grader" / "bin" / name
            path.chmod(0o755)

    def run(self, name, **told_too):
        """Run one step; what it puts out is there for the next."""
        step = next(step for step in ACTION["runs"]["steps"] if step["name"] == name)
        told = self.folder / f"outputs of {name}"
        told.touch()
        given = {
            key: re.sub(r"\$\{\{ (.*?) \}\}", lambda match: self.values.get(match[1], ""), value)
            for key, value in step["env"].items()
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=self.folder,
            env=os.environ
            | given
            | {
                "RUNNER_TEMP": str(self.folder),
                "GITHUB_OUTPUT": str(told),
                "GITHUB_ACTION_PATH": str(ROOT),
                "PYTHONPATH": str(ROOT),
            }
            | told_too,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        pairs = dict(line.split("=", 1) for line in told.read_text().splitlines())
        self.values |= {f"steps.{step.get('id')}.outputs.{key}": value for key, value in pairs.items()}
        return done, pairs


@pytest.fixture(scope="module")
def hostile(tiny_course, tmp_path_factory):
    """A runner with a submission that is named like a command to it and lacks a file, and what grading it gave."""
    folder = tmp_path_factory.mktemp("runner")
    write_files(folder / "submissions" / "::error::pwned", {"double.py": DOUBLE})
    write_files(folder / "submissions" / "::error::pwned", {"halve.py": "def halve(x):\n    return x\n"})
    runner = Runner(folder, submissions="submissions", course=tiny_course, assignment="tiny", show_log="true")
    return runner, *runner.run("Grade")


def test_action_log_holds_no_command_that_the_runner_would_follow(hostile):
    """What a student chose stands between marks that nobody can guess."""
    _, done, _ = hostile
    lines = done.stdout.splitlines()
    mark = lines[0].removeprefix("::stop-commands::")

    assert re.fullmatch("[0-9a-f]{32}", mark)
    assert f"::{mark}::" == lines[-1]
    assert any("pwned" in line for line in lines[1:-1])
    assert not any(line.lstrip().startswith("::") for line in lines[1:-1])


def test_action_puts_out_the_score(hostile):
    """Numbers of a single submission."""
    runner, done, told = hostile

    _, score = runner.run("Score")

    assert (0, "0") == (done.returncode, told["exit-code"])
    assert Path(told["report"]).is_file()
    assert {"score": "3.00", "final-score": "3.00", "max-score": "4.00", "status": "graded"} == score


def test_action_result_is_that_of_the_grader(tmp_path):
    """The job fails as `grade` does, once everything else has happened."""
    runner = Runner(tmp_path)
    runner.values["steps.grade.outputs.exit-code"] = "4"

    done, _ = runner.run("Result")

    assert (4, "A score is below the limit.\n") == (done.returncode, done.stdout)


def test_action_summary_is_what_the_student_may_see(hostile):
    """Written by `grade post`, without a word to GitHub; and a name of the student's is no markup in it."""
    runner, _, _ = hostile
    summary = runner.folder / "summary.md"
    event = write_files(runner.folder, {"event.json": "{}"}) / "event.json"
    told = {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_EVENT_PATH": str(event), "GITHUB_REPOSITORY": "class/homework"}
    runner.values |= {"inputs.post": "summary", "inputs.token": "not-used"}

    done, _ = runner.run("Post", **told, GITHUB_SHA="0123456789abcdef0123456789abcdef01234567")

    assert (0, "") == (done.returncode, done.stderr)
    assert "3.00 of 4.00" in summary.read_text(encoding="utf-8")
    assert not any(line.startswith("::error") for line in done.stdout.splitlines())


def test_action_wrong_usage_is_told_and_gives_no_report(tmp_path, tiny_course):
    """A fault of the course's is shown although the log is not, and nothing is taken for a result."""
    runner = Runner(tmp_path, submissions="nowhere", course=tiny_course)

    done, told = runner.run("Grade")

    assert (2, {}) == (done.returncode, told)
    assert "nowhere does not exist" in done.stdout


def test_action_report_that_is_there_is_not_graded_again(tmp_path):
    """The job that posts grades nothing."""
    runner = Runner(tmp_path, report="earlier/report.json")

    done, told = runner.run("Grade")

    assert ("", {"report": "earlier/report.json", "exit-code": "0"}) == (done.stdout, told)
