"""End to end: every folder of submissions_example/ gets what its expected.toml says it must get."""

import functools
import json
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "submissions_example"
ASSIGNMENTS = sorted(folder.name for folder in EXAMPLES.iterdir())
IDS = [f"{name}/{folder.name}" for name in ASSIGNMENTS for folder in sorted((EXAMPLES / name).iterdir())]


@pytest.fixture(scope="module")
def report_of(tmp_path_factory):
    """report.json of one run over all examples of an assignment, which is found out by their files."""

    @functools.cache
    def report(assignment):
        out = tmp_path_factory.mktemp("examples") / "report"
        command = [sys.executable, "-m", "grader", EXAMPLES / assignment, "-o", out]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert 0 == done.returncode, done.stderr
        return json.loads((out / "report.json").read_text(encoding="utf-8"))

    return report


def _verdicts(submission):
    by_verdict = defaultdict(list)
    for check in submission["checks"]:
        if check["verdict"] != "passed":
            by_verdict[check["verdict"]].append(check["id"])
    return dict(by_verdict)


def _named(diagnosis):
    """A mistake by its id, with those that no input tells from it, and the callables that show it."""
    return {"ids": diagnosis["mistakes"], "shows_in": diagnosis["callables"]}


def _charged(submission):
    """Points lost for each mistake, over all parts."""
    charged = defaultdict(float)
    for part in submission["parts"]:
        for one in part["charged"]:
            charged[one["mistake"]] += one["price"]
    return dict(charged)


@pytest.mark.parametrize("name", IDS)
def test_example_gets_the_outcome_it_states(report_of, name):
    """Status, points, mistakes named and what each costs, notes, flags, and the verdict of every check."""
    assignment, _, example = name.partition("/")
    expected = tomllib.loads((EXAMPLES / name / "expected.toml").read_text(encoding="utf-8"))
    submission = next(one for one in report_of(assignment)["submissions"] if one["id"] == example)

    observed = {
        "about": expected["about"],
        "status": submission["status"],
        "points": {part["name"]: part["score"] for part in submission["parts"]},
        "verdicts": _verdicts(submission),
        "mistakes": [_named(one) for one in submission["diagnoses"]],
        "charged": _charged(submission),
        "unrecognised": submission["unrecognised"],
    }
    if submission["notes"]:
        observed["notes"] = submission["notes"]
    if submission["flags"]:
        observed["flags"] = ["{kind}, {file}:{line}: {detail}".format(**flag) for flag in submission["flags"]]

    assert expected == observed


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_example_report_fits_its_schema(report_of, assignment):
    """report.json of a real run is what the schema in the repository describes."""
    schema = json.loads((ROOT / "grader/report.schema.json").read_text(encoding="utf-8"))

    jsonschema.validate(report_of(assignment), schema)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_example_files_tell_which_assignment_they_answer(report_of, assignment):
    """Two assignments have a stub of one name."""
    assert assignment == report_of(assignment)["assignment"]["name"]


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_example_untouched_stub_is_the_stub(assignment):
    """The example of an untouched stub is a copy of what students get."""
    stub = ROOT / "assignments" / assignment / "stub"
    stubs = {path.name: path.read_text(encoding="utf-8") for path in stub.glob("*.py")}

    untouched = EXAMPLES / assignment / "untouched_stub"
    copies = {path.name: path.read_text(encoding="utf-8") for path in untouched.glob("*.py")}

    assert stubs == copies
