"""The zip for Gradescope: what is in it, and the scripts as far as they can be run without Gradescope."""

import os
import stat
import subprocess
import zipfile
from pathlib import Path

import pytest
from conftest import PATIENCE_S, Command, write_files

import grader.package.gradescope as package
from grader.course import Course
from grader.wheel import write_wheel


@pytest.fixture(scope="module")
def course(tiny_course, tmp_path_factory):
    """The tiny course, with another assignment, solutions in other styles, and what tools left."""
    folder = tmp_path_factory.mktemp("packed")
    files = {str(path.relative_to(tiny_course)): path.read_bytes() for path in tiny_course.rglob("*") if path.is_file()}
    kept = {name: data for name, data in files.items() if "__pycache__" not in name}
    kept["assignments/other/assignment.toml"] = kept["assignments/tiny/assignment.toml"]
    kept["reference/variants/tiny/plain/double.py"] = b""
    kept["reference/__pycache__/double.cpython-311.pyc"] = b""
    kept["reference/mistakes/double.toml"] = b""
    return write_files(folder, kept)


@pytest.fixture(scope="module")
def packed(course, tmp_path_factory):
    """The zip."""
    path = tmp_path_factory.mktemp("zip") / "gradescope.zip"
    found = Course(course)
    package.write_package(found, found.assignment("tiny"), path)
    return path


@pytest.fixture(scope="module")
def unpacked(packed, tmp_path_factory):
    """A folder `source` with what is in it."""
    root = tmp_path_factory.mktemp("root")
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(root / "source")
    return root


def test_package_holds_what_gradescope_looks_for_and_what_that_needs(packed, tmp_path):
    """The two scripts at the top, the packages, the assignment, the reference; nothing of another assignment."""
    with zipfile.ZipFile(packed) as archive:
        names = archive.namelist()

    assert [
        "setup.sh",
        "run_autograder",
        "constraints.txt",
        "requirements.txt",
        write_wheel(tmp_path).name,
        "course/assignments/tiny/assignment.toml",
        "course/assignments/tiny/checks/test_double.py",
        "course/assignments/tiny/checks/test_halve.py",
        "course/reference/__init__.py",
        "course/reference/double.py",
        "course/reference/mistakes/double.toml",
    ] == names


def test_package_scripts_can_be_executed(packed):
    """Gradescope keeps the modes that the zip states."""
    with zipfile.ZipFile(packed) as archive:
        modes = {info.filename: stat.filemode(info.external_attr >> 16) for info in archive.infolist()}

    assert {"setup.sh", "run_autograder"} == {name for name, mode in modes.items() if mode == "-rwxr-xr-x"}
    assert {"-rwxr-xr-x", "-rw-r--r--"} == set(modes.values())


def test_package_grades_are_the_same_there(course, unpacked):
    """All that decides a grade is in it: the digest is that of the course."""
    there = Course(unpacked / "source" / "course")

    assert ["tiny"] == there.names
    assert Course(course).assignment("tiny").digest == there.assignment("tiny").digest


def test_package_pins_every_package_but_the_grader(unpacked):
    """Its own wheel lies beside; torch and numpy are asked for by name, for students import them."""
    lines = (unpacked / "source" / "constraints.txt").read_text().splitlines()

    assert {"torch", "numpy", "pytest", "pytest-json-report", "click"} <= {line.partition("==")[0] for line in lines}
    assert [] == [line for line in lines if line.startswith("attention-grader") or "+" in line]
    assert "numpy\ntorch\n" == (unpacked / "source" / "requirements.txt").read_text()


def test_package_is_the_same_twice(course, packed, tmp_path):
    """Whoever compares two sees what changed."""
    found = Course(course)

    package.write_package(found, found.assignment("tiny"), tmp_path / "again.zip")

    assert packed.read_bytes() == (tmp_path / "again.zip").read_bytes()


# --- the command ------------------------------------------------------------------------------------------------


def test_package_command_writes_the_zip_and_says_whom_it_is_for(course, packed, tmp_path):
    """With the file, the assignment, and that it holds the answers."""
    done = Command(tmp_path).run("package", "gradescope", "tiny", "--course", course)

    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith("gradescope.zip: Doubling, 11 files,")
    assert "It holds the answers" in done.stdout
    assert packed.read_bytes() == (tmp_path / "gradescope.zip").read_bytes()


def test_package_command_unknown_assignment_is_named(course, tmp_path):
    """With what was meant; nothing is written."""
    done = Command(tmp_path).run("package", "gradescope", "tinny", "--course", course)

    assert (2, "") == (done.returncode, done.stdout)
    assert "no assignment is called 'tinny'" in done.stderr
    assert "did you mean tiny?" in done.stderr
    assert [] == list(tmp_path.iterdir())


def test_package_command_place_that_cannot_be_written_is_named(course, tmp_path):
    """A folder that is not there."""
    done = Command(tmp_path).run("package", "gradescope", "tiny", "--course", course, "-o", "nowhere/x.zip")

    assert (2, "") == (done.returncode, done.stdout)
    assert "No such file or directory; nowhere/x.zip was not written" in done.stderr


# --- setup.sh ---------------------------------------------------------------------------------------------------

#: A Python that does what setup.sh asks of one, and notes it down. What fails is named by FAILS.
PYTHON = """#!/bin/sh
echo "$@" >>"$NOTES"
case "$*" in
  *"-m venv"*) mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;
esac
case "$*" in *"$FAILS"*) exit 1 ;; esac
"""


def set_up(unpacked, tmp_path, fails="nothing"):
    """Run setup.sh with such a Python; returns how it ended, and what it had Python do."""
    python = write_files(tmp_path / "bin", {"python": PYTHON}) / "python"
    python.chmod(0o755)
    notes = tmp_path / "notes"
    done = subprocess.run(
        ["bash", unpacked / "source" / "setup.sh"],
        env={
            "PATH": os.environ["PATH"],
            "GRADER_ROOT": str(unpacked),
            "GRADER_HOME": str(tmp_path / "home"),
            "BASE_PYTHON": str(python),
            "GRADER_WAIT_S": "0",
            "NOTES": str(notes),
            "FAILS": fails,
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return done, [line for line in notes.read_text().splitlines() if not line.startswith(("-c", "import", "sys"))]


def test_setup_installs_pinned_packages_and_the_wheel_and_closes_the_folder(unpacked, tmp_path):
    """Torch by itself, from where its build for processors is; then all else; then it is tried."""
    done, notes = set_up(unpacked, tmp_path)

    installs = [line for line in notes if " install " in line]
    assert 0 == done.returncode
    assert all(f"--constraint {unpacked}/source/constraints.txt" in line for line in installs)
    assert [True, False] == ["--no-deps --index-url" in line and "torch==" in line for line in installs]
    assert installs[1].endswith(".whl")
    assert any(line.endswith("-m grader --version") for line in notes)
    assert 0o700 == stat.S_IMODE((unpacked / "source").stat().st_mode)
    assert 0 == stat.S_IMODE((unpacked / "source" / "course" / "reference" / "double.py").stat().st_mode) & 0o077


def test_setup_tries_again_and_then_fails_loudly(unpacked, tmp_path):
    """An index that does not answer is no autograder without torch."""
    done, notes = set_up(unpacked, tmp_path, fails="--index-url")

    assert 1 == done.returncode
    assert 4 == sum("--index-url" in line for line in notes)
    assert "setup.sh: given up:" in done.stderr
    assert done.stderr.endswith("setup.sh: The autograder was not built.\n")


@pytest.mark.parametrize("fails", ["pip check", "grader --version"])
def test_setup_what_does_not_work_in_the_end_is_no_autograder(unpacked, tmp_path, fails):
    """Packages that do not fit together, or a grader that does not start."""
    done, _ = set_up(unpacked, tmp_path, fails)

    assert 1 == done.returncode
    assert "The autograder was not built." in done.stderr


def test_setup_weak_isolation_does_not_stop_the_build(unpacked, tmp_path):
    """Where it is built is not where it grades."""
    done, _ = set_up(unpacked, tmp_path, fails="grader doctor")

    assert 0 == done.returncode
    assert "isolation is less than strong here" in done.stderr


@pytest.mark.parametrize("name", ["setup.sh", "run_autograder.sh"])
def test_package_scripts_stop_at_the_first_failure(name):
    """And at a variable that is not set."""
    lines = (Path(package.__file__).parent / name).read_text(encoding="utf-8").splitlines()

    assert "#!/usr/bin/env bash" == lines[0]
    assert "set -euo pipefail" in lines
