"""What runs at Gradescope, run: the zip unpacked as there, a submission beside it, and what comes of it."""

import json
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import as_user
import pytest
from conftest import DOUBLE, HALVE, PATIENCE_S, TINY_COURSE, write_files

import grader.package.gradescope as package
from grader.course import Course

#: Asked of no student beforehand; its hint and its numbers are for staff.
HIDDEN = '''
from grader.checks import Checks

double = Checks("double")


@double.check(points=2, hint="SECRET HINT")
def test_more_rows(student, given):
    """Every row is doubled."""
    student(given.normal("x", 7, 3)).matches()
'''
#: Right for two rows and wrong for more. When it is loaded it looks for the answers and tries to leave a result.
HOSTILE = """
import glob, os, sys

try:
    for name in glob.glob(ROOT + "/source/course/reference/*.py"):
        print("STOLEN", open(name).read())
    print("SEEN", os.listdir(ROOT + "/source"))
except Exception as error:
    print("refused", type(error).__name__)
for name in ("/results/results.json", "/results/.results.json", "/source/run_autograder"):
    try:
        with open(ROOT + name, "w") as file:
            file.write('{"score": 1000}')
        print("FORGED", name)
    except Exception as error:
        print("refused", type(error).__name__)


def double(x):
    return x + x if len(x) == 2 else x
"""
METADATA = {
    "id": 77,
    "created_at": "2026-03-01T14:22:32.365935-08:00",
    "users": [{"id": 1, "name": "Zoë Ångström", "email": "zoe@example.org"}],
}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """What Gradescope has in /autograder/source, and the grader of the zip's own wheel, ready to be imported."""
    text = TINY_COURSE["assignments/tiny/assignment.toml"].replace("points = 3", "points = 5")
    changed = {"assignments/tiny/assignment.toml": text, "assignments/tiny/checks/test_double_hidden.py": HIDDEN}
    course = Course(write_files(tmp_path_factory.mktemp("course"), TINY_COURSE | changed))
    folder = tmp_path_factory.mktemp("packed")
    package.write_package(course, course.assignment("tiny"), folder / "gradescope.zip")
    with zipfile.ZipFile(folder / "gradescope.zip") as archive:
        archive.extractall(folder / "source")
        for info in archive.infolist():
            (folder / "source" / info.filename).chmod(stat.S_IMODE(info.external_attr >> 16))
    with zipfile.ZipFile(next((folder / "source").glob("*.whl"))) as wheel:
        wheel.extractall(folder / "installed")
    return folder


class Autograder:
    """A folder as Gradescope's /autograder, with one submission."""

    def __init__(self, root, source, files):
        self.root = root
        for name in ("source", "installed"):
            shutil.copytree(source / name, root / name)
        write_files(root / "submission", files)
        write_files(root, {"submission_metadata.json": json.dumps(METADATA), "results/results.json": '{"score": 0}'})

    def run(self, *lacking):
        """Run the zip's `run_autograder`, perhaps where layers of the sandbox are missing."""
        command = ["bash", str(self.root / "source" / "run_autograder")]
        if lacking:
            without = [sys.executable, str(Path(__file__).parent / "without.py"), ",".join(lacking), *command]
            command = as_user.boxed(0, [self.root], without)
        return subprocess.run(
            command,
            cwd=self.root,
            env=os.environ
            | {
                "GRADER_ROOT": str(self.root),
                "GRADER_PYTHON": sys.executable,
                "PYTHONPATH": str(self.root / "installed"),
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE_S,
            check=False,
        )

    @property
    def results(self):
        """What Gradescope would read; None where there is nothing."""
        path = self.root / "results" / "results.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


@pytest.fixture
def autograder(tmp_path, source):
    """Make one, with the files of a submission."""

    def make(**files):
        return Autograder(tmp_path / "autograder", source, {f"{name}.py": text for name, text in files.items()})

    return make


def isolation_of(log):
    """The level that the log names, which it does where it is less than strong."""
    return log.partition("Isolation: ")[2].partition(".")[0] or "strong"


@pytest.mark.parametrize(
    "lacking",
    [
        (),
        pytest.param(
            ("namespaces", "landlock"),
            marks=pytest.mark.skipif(not as_user.can_box(), reason="only root can make a machine that lacks something"),
        ),
    ],
    ids=["strong", "as in a container on an old kernel"],
)
def test_autograder_hostile_submission_reads_no_answer_and_leaves_no_result(autograder, lacking):
    """It has the points of its code; of the hidden check it learns the title, and that it fails."""
    given = autograder(halve=HALVE)
    write_files(given.root / "submission", {"double.py": f"ROOT = {str(given.root)!r}\n" + HOSTILE})

    done = given.run(*lacking)
    text = json.dumps(given.results)

    assert 0 == done.returncode, done.stdout
    assert 4 == given.results["score"]
    assert [] == [word for word in ("STOLEN", "SEEN", "FORGED", "SECRET HINT") if word in text]
    assert "refused " in text
    assert ["results.json"] == os.listdir(given.root / "results")
    assert ("partial" if lacking else "strong") == isolation_of(done.stdout)
    hidden = [test for test in given.results["tests"] if "rows" in test["name"].lower()]
    assert ["failed"] == [test["status"] for test in hidden]
    assert "observed" not in hidden[0]["output"]


def test_autograder_submission_without_the_files_has_no_points_and_a_reason(autograder):
    """It is the student's; the text says what is missing."""
    given = autograder(notes="")

    done = given.run()

    assert (0, 0) == (done.returncode, given.results["score"])
    assert "double.py" in json.dumps(given.results)


def test_autograder_grader_that_fails_gives_no_score(autograder):
    """Not even that of an earlier attempt: Gradescope then says that the autograder failed, which is no 0."""
    given = autograder(double=DOUBLE, halve=HALVE)
    (given.root / "source/course/reference/double.py").unlink()

    done = given.run()

    assert (1, None) == (done.returncode, given.results)
    assert "autograder: no score was given. `grade run` ended with exit code 2" in done.stdout
