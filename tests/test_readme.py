"""The README shows a report: it is the one that grading the same example with the same seed gives."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
#: The command that the README names for its report, and the text of the report below it.
SHOWN = re.search(
    r"```\n(grade submissions_example/attention/\S+) -o report/ (--seed \d+)\n```.*?```\n(.*?)```", README, re.S
)
LINK = re.compile(r"(?:\]\(|src=\")(?!https?:)([^)\"#]+)")


@pytest.fixture(scope="module")
def submission(tmp_path_factory):
    """The entry of the only submission that the README's command grades."""
    assert SHOWN
    command, seed, _ = SHOWN.groups()
    out = tmp_path_factory.mktemp("readme") / "report"
    words = [sys.executable, "-m", "grader", *shlex.split(command)[1:], "-o", out, *shlex.split(seed)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert 0 == done.returncode, done.stderr
    (entry,) = json.loads((out / "report.json").read_text(encoding="utf-8"))["submissions"]
    return entry


def points(number):
    """Points without idle zeros."""
    return f"{number:g}"


def named(entry):
    """The mistake, what it cost, and what its checks would have."""
    (diagnosis,) = entry["diagnoses"]
    (part,) = (part for part in entry["parts"] if part["charged"])
    (charge,) = part["charged"]
    yield f"{entry['id']}: {points(entry['score'])} of {points(entry['max_score'])} points"
    yield ""
    yield diagnosis["title"]
    yield f"  shows in  {', '.join(diagnosis['callables'])}, {len(diagnosis['checks'])} checks"
    by_checks = points(part["max_score"] - part["score_checks"])
    yield f"  costs     {points(charge['price'])} points; its checks are worth {by_checks}"
    yield f"  hint      {diagnosis['hint']}"


def by_hand(entry):
    """The small example: the call, its tensors, the remark."""
    (example,) = entry["examples"]
    sides = [("", one) for one in example["inputs"]]
    for right, given in zip(example["expected"], example["observed"], strict=True):
        sides += [("expected ", right), ("observed ", given)]
    yield example["call"]
    for side, matrix in sides:
        yield f"  {side + matrix['name']:<16}  {matrix['shape']!s:<12}  {'  '.join(matrix['cells'])}"
    yield from (f"  {sentence}." for sentence in example["remark"].rstrip(".").split(". "))


def on_the_way(entry):
    """The shapes: what the assignment states, then each operation, the one that departs marked."""
    (shapes,) = entry["shapes"]
    (file,) = {step["file"] for step in shapes["steps"]}
    yield shapes["call"]
    yield f"  sizes   {shapes['sizes']}"
    yield from (f"  stated  {stated}" for stated in shapes["wanted"])
    yield f"  line of {file}"
    for step in shapes["steps"]:
        mark = "▶" if step["departs"] else " "
        shapes_of_step = [*step["inputs"], *([f"-> {step['output']}"] if step["output"] else [])]
        line = f"{mark} {step['line']:>5}  {step['operation']:<9}  {'  '.join(shapes_of_step)}"
        yield f"{line:<84}  {step['stage']}".rstrip()
        if step["departs"]:
            yield f"         {step['departs']}"


def test_readme_report_is_what_grading_the_example_says(submission):
    """Name, points, the example by hand and the shapes on the way, word by word."""
    expected = "\n".join([*named(submission), "", *by_hand(submission), "", *on_the_way(submission)]) + "\n"

    assert expected == SHOWN[3]


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_page_links_lead_to_what_is_there(page):
    """A link within the repository names a file or folder of it."""
    targets = LINK.findall(page.read_text(encoding="utf-8"))

    assert [] == [target for target in targets if not (page.parent / target).exists()]
