"""The wheel of this very package: what is in it, and that it installs and runs by itself."""

import base64
import csv
import hashlib
import os
import subprocess
import sys
import zipfile
from importlib.metadata import Distribution
from pathlib import Path

import pytest

import grader
from grader.wheel import WheelError, write_wheel

PACKAGE = Path(grader.__file__).parent
#: Makes a wheel in the folder of its argument.
AGAIN = "import sys; from pathlib import Path; from grader.wheel import write_wheel; write_wheel(Path(sys.argv[1]))"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel."""
    return write_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def names(wheel):
    """Names of the files in it."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder it was installed in, by pip, with no package index to ask."""
    folder = tmp_path_factory.mktemp("installed")
    options = ["--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", "--target", folder]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, wheel], check=True)
    return folder


def run(installed, folder, *arguments):
    """Run Python somewhere else, with the installed package first on its path."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_wheel_holds_the_whole_package(names):
    """Every file there is, the templates and the schema among them."""
    there = {path.relative_to(PACKAGE.parent).as_posix() for path in PACKAGE.rglob("*") if path.is_file()}

    assert {name for name in there if "__pycache__" not in name} == {
        name for name in names if name.startswith("grader/")
    }
    assert {"grader/report.schema.json", "grader/render/templates/student.html.j2"} <= set(names)


def test_wheel_holds_nothing_else(names):
    """No course that lies beside the package in a clone, and no test."""
    assert {"grader", f"attention_grader-{grader.__version__}.dist-info"} == {name.partition("/")[0] for name in names}


def test_wheel_leftovers_in_the_package_stay_out(tmp_path):
    """Compiled files, and what an editor left, would differ from one machine to the next."""
    leftovers = ["grader/x.pyc", "grader/x.py~", "grader/.x.py", "grader/x.orig"]
    for name in ["grader/__init__.py", *leftovers]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    code = f"import grader.wheel; grader.__file__ = 'grader/__init__.py'; {AGAIN}"

    run(PACKAGE.parent, tmp_path, "-P", "-c", code, ".")

    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as archive:
        assert ["grader/__init__.py"] == [name for name in archive.namelist() if name.startswith("grader/")]


def test_wheel_record_states_every_file(wheel, names):
    """Whoever installs can tell a damaged file."""
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(names[-1]).decode()
        stated = {name: (digest, size) for name, digest, size in csv.reader(text.splitlines())}
        there = {
            name: (
                "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).decode().rstrip("="),
                str(archive.getinfo(name).file_size),
            )
            for name in names[:-1]
        }

    assert there | {names[-1]: ("", "")} == stated


def test_wheel_installs_and_runs(installed, tmp_path):
    """By pip, offline; the command is there, and it is this package that answers."""
    assert f"grade, version {grader.__version__}\n" == run(installed, tmp_path, "-m", "grader", "--version")
    assert (installed / "bin" / "grade").is_file()
    assert str(installed) in run(installed, tmp_path, "-c", "import grader; print(grader.__file__)")


def test_wheel_of_an_installed_wheel_is_the_same(installed, wheel, tmp_path):
    """What is handed on can be handed on, byte for byte."""
    run(installed, tmp_path, "-c", AGAIN, tmp_path)

    assert wheel.read_bytes() == (tmp_path / wheel.name).read_bytes()


def test_wheel_stale_installation_is_refused(monkeypatch, tmp_path):
    """What the package needs is noted at installation; after a change of version it may be wrong."""
    monkeypatch.setattr(grader, "__version__", "99.0")

    with pytest.raises(WheelError, match=r"is version 99\.0, and what was installed says .*; install it again"):
        write_wheel(tmp_path)


def test_wheel_without_installation_says_what_to_do(monkeypatch, tmp_path):
    """A folder on the path, and nothing that says what it needs."""
    monkeypatch.setattr(Distribution, "discover", lambda **_: [])

    with pytest.raises(WheelError, match=r"was not installed, .*; install it \(in a clone: pip install -e \.\)"):
        write_wheel(tmp_path)
