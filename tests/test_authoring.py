"""`docs/authoring.md`, followed to the letter: files written, edits made, commands run by the real program."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import environment

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/authoring.md"
#: A fenced block: what it says of itself, and its lines.
BLOCK = re.compile(r"^(?P<fence>`{3,})(?P<info>[^`\n]*)\n(?P<text>.*?)^(?P=fence)$", re.M | re.S)
#: A line that names the file which the block below it is about.
PLACE = re.compile(r"^`([^`\n]+)`\n+\Z", re.M)
#: Lines about progress, on standard error.
PROGRESS = re.compile(r"^  \.\.\. .*\n", re.M)
#: In what the page shows: a line that stands for any number of lines; elsewhere, for anything on a line.
ANYTHING = "..."


@dataclass(frozen=True, slots=True)
class Step:
    """Something the page tells its reader to do, or the output that it shows for the command before."""

    #: write, edit, run or show.
    kind: str
    text: str
    path: str = ""
    exit_code: int = 0


def steps_of(page):
    """All steps of a page, in order. A block of output belongs to the commands before it, the first one only."""
    path, is_shown = "", True
    end = 0
    for block in BLOCK.finditer(page):
        info, text = block["info"].strip(), block["text"]
        named = PLACE.search(page[end : block.start()])
        end = block.end()
        path = named[1] if named else path
        if info.startswith("sh"):
            code = re.search(r"exit code (\d+)", info)
            yield Step("run", text, exit_code=int(code[1]) if code else 0)
            is_shown = False
        elif info == "diff":
            yield Step("edit", text, path)
        elif named:
            yield Step("write", text, path)
        elif not info and not is_shown:
            yield Step("show", text)
            is_shown = True


@dataclass(slots=True)
class Reader:
    """Does what the page says. Commands begin in the folder in which the one before ended, as in a shell."""

    folder: Path
    programs: Path
    output: str = ""

    def do(self, step):
        {"write": self.write, "edit": self.edit, "run": self.run, "show": self.see}[step.kind](step)

    def write(self, step):
        path = self.folder / step.path
        assert path.parent.is_dir(), f"{step.path}: the page writes into a folder that nothing has made"
        path.write_text(step.text, encoding="utf-8")

    def edit(self, step):
        path, lines = self.folder / step.path, step.text.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if not line.startswith("+"))
        new = "".join(line[1:] for line in lines if not line.startswith("-"))
        before = path.read_text(encoding="utf-8")
        assert 1 == before.count(old), f"{step.path} holds {before.count(old)} times:\n{old}"
        path.write_text(before.replace(old, new), encoding="utf-8")

    def run(self, step):
        place = self.programs / "place"
        done = subprocess.run(
            ["bash", "-euc", f"{step.text}\npwd > {place}"],
            cwd=self.folder,
            env=environment() | {"PATH": f"{self.programs}:{os.environ['PATH']}", "COLUMNS": "100"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert step.exit_code == done.returncode, f"{step.text}\n{done.stdout}"
        self.output = done.stdout
        if not done.returncode:
            self.folder = Path(place.read_text().strip())

    def see(self, step):
        assert matches(step.text, self.output), f"the page shows:\n{step.text}\nand it is:\n{self.output}"


def matches(shown, output):
    """Whether an output is what the page shows, but for blanks at the ends of lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == ANYTHING else re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + r"\n"
        for line in shown.splitlines()
    )
    said = "".join(f"{line.rstrip()}\n" for line in PROGRESS.sub("", output).splitlines())
    return re.fullmatch(pattern, said) is not None


def program(folder, name, module):
    """A command of that name, which runs a module of this interpreter."""
    path = folder / name
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m {module} "$@"\n')
    path.chmod(0o755)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The course that the page ends with."""
    programs = tmp_path_factory.mktemp("programs")
    program(programs, "grade", "grader")
    program(programs, "pytest", "pytest -p no:cacheprovider")
    reader = Reader(tmp_path_factory.mktemp("empty"), programs)
    for step in steps_of(PAGE.read_text(encoding="utf-8")):
        reader.do(step)
    return reader.folder


def test_authoring_page_has_steps_of_every_kind():
    """The test below is about something."""
    kinds = [step.kind for step in steps_of(PAGE.read_text(encoding="utf-8"))]

    assert {"write", "edit", "run", "show"} == set(kinds)
    assert kinds.count("run") >= 4


def test_authoring_page_ends_with_an_assignment_that_holds(course):
    """Every file, edit, command and output of the page; the last proof on it says that everything holds."""
    steps = list(steps_of(PAGE.read_text(encoding="utf-8")))
    proofs = [n for n, step in enumerate(steps) if step.kind == "run" and "grade verify" in step.text]

    assert "everything holds" in steps[proofs[-1] + 1].text
    assert "layer_norm" == course.joinpath("assignments/layer_norm").name


def test_authoring_assignment_names_a_students_mistake(course):
    """Code in lines of its own, graded on the page, gets the name and loses the price that the page has set."""
    report = json.loads((course / "report/report.json").read_text(encoding="utf-8"))

    scores = {one["id"]: one["score"] for one in report["submissions"]}
    named = {one["id"]: [diagnosis["mistakes"] for diagnosis in one["diagnoses"]] for one in report["submissions"]}
    assert {"right": 20, "one_mistake": 19, "untouched_stub": 0} == scores
    assert [["layer-norm-unbiased-variance"]] == named["one_mistake"]
    assert [] == named["right"]


@pytest.mark.parametrize(
    ("shown", "output", "expected"),
    [
        ("one\n...\nfour\n", "one\ntwo\nthree\nfour\n", True),
        ("one\n...\ntwo\n", "one\ntwo  \n", True),
        ("passed in ...\n", "passed in 2.31s\n", True),
        ("one\n", "one\ntwo\n", False),
        ("1.5\n", "125\n", False),
        ("one\n", "  ... doing it\none\n", True),
    ],
)
def test_authoring_shown_output_is_compared_line_by_line(shown, output, expected):
    """Three dots stand for what may differ, and nothing else does."""
    assert expected == matches(shown, output)
