"""docs/ci.md: what it says to type and to write works, literally where it can be."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from conftest import PATIENCE_S, write_files
from test_workflows import ACTION, WORKFLOWS, commands_in, must_parse

from grader.cli import main

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, re.S)
SHELL = [text for kind, text in BLOCKS if not kind]
COMMANDS = [words for text in SHELL for words in commands_in(text)]
#: The files that the commands of the page are typed beside.
COURSE = ("assignments", "reference", "submissions_example")


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_page_commands_are_those_of_the_command_line(words):
    """An option that is renamed breaks here."""
    must_parse(main, words)


def test_page_steps_are_those_of_the_examples():
    """The same versions, and inputs and outputs that the action has."""
    (text,) = (text for kind, text in BLOCKS if kind == "yaml")
    checkout, grade, score = yaml.safe_load(text)
    jobs = [job for workflow in WORKFLOWS.values() for job in workflow["jobs"].values()]
    used = {step.get("uses") for job in jobs for step in job["steps"]}

    assert {checkout["uses"], grade["uses"]} <= used
    assert set(grade["with"]) <= set(ACTION["inputs"])
    assert re.findall(r"outputs\.([\w-]+)", score["env"]["SCORE"])[0] in ACTION["outputs"]


def test_page_tells_of_every_example():
    """And of none that is not there."""
    there = {path.name for path in (ROOT / ".github" / "workflows" / "examples").iterdir()}

    assert there == set(re.findall(r"^\| `([\w-]+\.yml)`", PAGE, re.M))


def test_page_container_is_run_as_the_recipe_says():
    """The recipe and the page show one command, but for how their lines begin."""
    (shown,) = (text for text in SHELL if "podman" in text)
    recipe = (ROOT / "Containerfile").read_text(encoding="utf-8")
    words = re.sub(r"[\\\s]+", " ", shown.partition("podman run")[2]).strip()

    assert words in re.sub(r"[\\#\s]+", " ", recipe)


def test_page_gradescope_package_made_and_run_as_it_says_gives_a_right_submission_all_points(tmp_path):
    """Both blocks, word by word: the package, and the same run anywhere."""
    for name in COURSE:
        (tmp_path / name).symlink_to(ROOT / name)
    for name, arguments in {"grade": "-P -m grader", "python": "-P"}.items():
        text = f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n'
        (write_files(tmp_path / "bin", {name: text}) / name).chmod(0o755)
    script = "".join(text for text in SHELL if "gradescope.zip" in text)

    done = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=tmp_path,
        env=os.environ | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE_S,
        check=False,
    )
    results = json.loads((tmp_path / "autograder" / "results" / "results.json").read_text(encoding="utf-8"))

    assert (0, "") == (done.returncode, done.stderr)
    assert 100 == results["score"]
    assert {"passed"} == {test["status"] for test in results["tests"]}
