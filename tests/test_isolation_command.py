"""The commands on machines that lack something: refused or said, in every report, and never silently weaker."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from conftest import RIGHT, write_files

ROOT = Path(__file__).parents[1]
#: What is taken away, and the level that is left.
MACHINES = {
    "": "strong",
    "namespaces": "strong",
    "landlock": "strong",
    "landlock,namespaces": "partial",
    "seccomp,landlock,namespaces": "none",
}


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """One right submission."""
    return write_files(tmp_path_factory.mktemp("class"), {f"ada/{name}": text for name, text in RIGHT.items()})


def on_machine_without(layers, course, *arguments, before=()):
    """Run the command where these layers cannot be had."""
    command = [*before, sys.executable, str(ROOT / "tests" / "without.py"), layers, sys.executable, "-m", "grader"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*command, *map(str, arguments)], cwd=course, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def run_without(tiny_course, handed_in, tmp_path_factory):
    """Grade with the strongest isolation there is, once on each machine: what that printed, where it wrote."""

    @cache
    def run(layers):
        out = tmp_path_factory.mktemp("out") / "report"
        return on_machine_without(layers, tiny_course, handed_in, "-o", out, "--isolation", "best"), out

    return run


@pytest.fixture(params=MACHINES)
def graded(request, run_without):
    """A run on each machine: what was taken away, what it printed, where it wrote."""
    return request.param, *run_without(request.param)


def test_isolation_best_grades_wherever_it_is(graded):
    """The score does not depend on the sandbox."""
    _, result, out = graded

    assert 0 == result.returncode, result.stderr
    assert [4.0] == [entry["score"] for entry in json.loads((out / "report.json").read_text())["submissions"]]


def test_isolation_level_stands_in_the_report_with_what_is_missing(graded):
    """The level is in report.json, and words only where there is something to say."""
    layers, _, out = graded
    grader = json.loads((out / "report.json").read_text())["grader"]

    assert MACHINES[layers] == grader["isolation"]
    assert (grader["isolation"] == "strong") == (not grader["isolation_detail"])


def test_isolation_less_than_strong_is_said_on_the_terminal_the_pages_and_in_every_row(graded):
    """Who reads one of them knows."""
    layers, result, out = graded
    level = MACHINES[layers]
    is_weak = level != "strong"

    assert is_weak == (f"Isolation: {level}." in result.stderr)
    assert is_weak == (f"Isolation: {level}" in (out / "index.html").read_text())
    assert is_weak == (f"Isolation: {level}" in (out / "summary.md").read_text())
    assert [level] == [row["isolation"] for row in csv.DictReader(io.StringIO((out / "grades.csv").read_text()))]


@pytest.mark.parametrize("layers", [layers for layers, level in MACHINES.items() if level != "strong"])
def test_isolation_strong_refuses_less_and_writes_nothing(layers, tiny_course, handed_in, tmp_path):
    """Exit code 3, the level, what is missing, and what to do."""
    result = on_machine_without(layers, tiny_course, handed_in, "-o", tmp_path / "report")

    assert 3 == result.returncode, result.stderr
    assert f"isolation is {MACHINES[layers]}, wanted strong" in result.stderr
    assert "Landlock comes with Linux 5.13" in result.stderr
    assert "--isolation best" in result.stderr
    assert not (tmp_path / "report").exists()


def test_isolation_report_is_not_continued_with_another_level(tiny_course, handed_in, run_without, tmp_path):
    """Entries that were kept apart less well do not stand beside others."""
    out = shutil.copytree(run_without("")[1], tmp_path / "report")
    write_files(handed_in.parent / "later", {f"eve/{name}": text for name, text in RIGHT.items()})

    result = on_machine_without(
        "landlock,namespaces", tiny_course, handed_in.parent / "later", "-o", out, "--resume", "--isolation", "best"
    )

    assert 2 == result.returncode, result.stderr
    assert "made with isolation strong, and here it is partial" in result.stderr
    assert ["ada"] == [entry["id"] for entry in json.loads((out / "report.json").read_text())["submissions"]]


def test_isolation_grading_as_the_first_process_of_a_container_works(tiny_course, handed_in, tmp_path):
    """There the grader is process 1, and so is the zygote in its own namespace."""
    inside = ["unshare", "--user", "--map-current-user", "--pid", "--fork", "--mount-proc", "--kill-child"]

    result = on_machine_without("", tiny_course, handed_in, "-o", tmp_path / "report", before=inside)

    assert 0 == result.returncode, result.stderr
    assert '"isolation": "strong"' in (tmp_path / "report" / "report.json").read_text()


def test_doctor_on_a_whole_machine_says_strong_with_evidence_for_each_layer(tiny_course):
    """One line a layer, each with what was refused by it alone."""
    result = on_machine_without("", tiny_course, "doctor")
    lines = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())

    assert 0 == result.returncode, result.stderr
    assert "strong" == lines["isolation"]
    assert all("refused" in lines[layer] for layer in ("limits", "user", "Landlock", "seccomp", "namespaces"))
    assert "read a file (EACCES)" in lines["Landlock"]
    assert "truncate a file (EPERM)" in lines["seccomp"]


def test_doctor_on_a_weak_machine_says_what_is_missing(tiny_course):
    """The exit code is that of a refused run."""
    result = on_machine_without("landlock,namespaces", tiny_course, "doctor")

    assert 3 == result.returncode, result.stderr
    assert "isolation   partial. No score can be forged, but students' code can read a file" in result.stdout
    assert "missing (Function not implemented)" in result.stdout
