"""End to end: a notebook gets the report that the same code gets in files."""

import json
from pathlib import Path

import pytest
from conftest import Command, write_files
from sample_notebook import code, jupyter, text

ROOT = Path(__file__).parents[1]
FILES = ("single_head.py", "masked.py", "multi_head.py")
SCALES_BY_DIM = ROOT / "submissions_example/attention/scales_by_dim"
RIGHT = ROOT / "reference/variants/attention/closures"
EXPERIMENT = "%time\nquery = torch.randn(2, 3)\nif True:\n    !ls\nprint(query); attention_mask = query > 0"


def notebook_of(folder):
    """All three files of a solution in one notebook, an experiment after each."""
    cells = [text("# Homework"), "%matplotlib inline\n!pip install torch\nimport torch"]
    for file in FILES:
        cells += [text(f"## {file}"), (folder / file).read_text(encoding="utf-8"), EXPERIMENT]
    return jupyter(*cells)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The entries of one run, by submission: a right solution, and one with a mistake, twice."""
    place = tmp_path_factory.mktemp("class")
    files = {f"files/{name}": (SCALES_BY_DIM / name).read_bytes() for name in FILES}
    notebooks = {"right.ipynb": notebook_of(RIGHT), "cells/hw.ipynb": notebook_of(SCALES_BY_DIM)}
    submissions = write_files(place / "handed_in", files | notebooks)
    done = Command(ROOT).run(submissions, "-o", place / "report", "--isolation", "best")
    assert 0 == done.returncode, done.stderr
    report = json.loads((place / "report/report.json").read_text(encoding="utf-8"))
    page = (place / "report/students/cells.html").read_text(encoding="utf-8")
    return {one["id"]: one for one in report["submissions"]}, page


def test_grade_notebook_of_a_right_solution_gets_full_marks(graded):
    """Handed in as a single file."""
    entries, _ = graded

    assert 100 == entries["right"]["score"]


def test_grade_notebook_gets_the_report_that_its_files_get(graded):
    """Every verdict and message, what was named, charged and shown, but for lines of other files."""
    entries, _ = graded
    told = ("score", "parts", "diagnoses", "unrecognised", "examples", "flags")

    assert {key: entries["files"][key] for key in told} == {key: entries["cells"][key] for key in told}
    assert [_said(check) for check in entries["files"]["checks"]] == [
        _said(check) for check in entries["cells"]["checks"]
    ]
    assert 97 == entries["cells"]["score"]


def _said(check):
    return {key: value for key, value in check.items() if key != "duration_s"}


def test_grade_notebook_tells_its_student_which_cells_were_taken(graded):
    """On their page."""
    _, page = graded

    assert "masked.py was made of hw.ipynb, cells counted from the top, text cells too: cell" in page


def test_grade_notebook_without_a_name_tells_which(tmp_path, grade):
    """Nothing of it is guessed; the rest is graded."""
    cells = [code("def double(x):\n    return x + x", 4), "def half(x): return x / 2"]
    write_files(tmp_path / "class/ann", {"hw.ipynb": jupyter(*cells)})

    grade.run(tmp_path / "class", "-o", tmp_path / "report", "--isolation", "best")

    (entry,) = json.loads((tmp_path / "report/report.json").read_text(encoding="utf-8"))["submissions"]
    assert [3, 0] == [part["score"] for part in entry["parts"]]
    page = (tmp_path / "report/students/ann.html").read_text(encoding="utf-8")
    assert "no cell of hw.ipynb defines halve" in page
