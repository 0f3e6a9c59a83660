"""`pytest assignments/attention/checks --submission FOLDER`: the checks as ordinary tests, in a pytest of their own."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import environment

COURSE = Path(__file__).parents[1]
CHECKS = "assignments/attention/checks"
PLAIN = COURSE / "tests/data/solutions/plain"


def run_pytest(*arguments):
    """`python -m pytest` with these arguments, in the course."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *map(str, arguments)],
        cwd=COURSE,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture(scope="module")
def wrong_run(tmp_path_factory):
    """The run of a submission that forgets the scale in one function, and lacks a file."""
    folder = tmp_path_factory.mktemp("submission")
    right = (PLAIN / "single_head.py").read_text()
    wrong = right.replace("    s = s / math.sqrt(d)\n", "")
    assert right != wrong
    (folder / "single_head.py").write_text(wrong)
    (folder / "masked.py").write_text((PLAIN / "masked.py").read_text())
    return run_pytest(CHECKS, "--submission", folder, "-v")


def test_standalone_right_solution_passes_every_check():
    """All green, one line a check, exit code 0."""
    result = run_pytest(CHECKS, "--submission", "tests/data/solutions/plain", "-v")

    lines = [line for line in result.stdout.splitlines() if "::test_" in line]
    assert 0 == result.returncode, result.stdout + result.stderr
    assert len(lines) > 40
    assert all(" PASSED" in line for line in lines)


def test_standalone_wrong_solution_fails_with_the_message_a_student_reads(wrong_run):
    """Exit code 1, and the message of the check instead of a traceback through the grader."""
    text = wrong_run.stdout

    assert 1 == wrong_run.returncode, text + wrong_run.stderr
    assert "scaled_dot_product_attention(query, key, value) returned wrong values in output" in text
    assert "Traceback" not in text
    assert "grader/answer.py" not in text.replace("warnings summary", "")


def test_standalone_check_that_does_not_touch_the_mistake_passes(wrong_run):
    """Each check is a test of its own."""
    verdicts = dict(line.split()[:2] for line in wrong_run.stdout.splitlines() if "::test_" in line and "[" in line)

    assert "PASSED" == verdicts[f"{CHECKS}/test_single_head.py::test_output_and_weights_have_the_stated_shapes"]
    assert "FAILED" == verdicts[f"{CHECKS}/test_single_head.py::test_output_with_more_keys_than_queries"]


def test_standalone_missing_file_is_told(wrong_run):
    """A part that is not there fails its own checks."""
    assert "multi_head.py is not in the submission" in wrong_run.stdout


def test_standalone_single_check_is_judged_without_those_before_it():
    """Whoever debugs one check, chosen with -k, is not told to run another first."""
    result = run_pytest(CHECKS, "--submission", PLAIN, "-v", "-k", "each_row_of_weights_sums_to_one")

    assert 0 == result.returncode, result.stdout + result.stderr
    assert "1 passed" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            [CHECKS, "--submission", "nowhere"],
            "nowhere: no such folder; wanted one student's folder, archive or notebook",
        ),
        (["--submission", PLAIN], "--submission needs the checks: pytest assignments/NAME/checks --submission FOLDER"),
        ([CHECKS, "--submission", PLAIN, "--grader-seed", "x"], "--grader-seed: invalid int value: 'x'"),
    ],
)
def test_standalone_wrong_usage_exits_4_and_says_what_to_do(arguments, words):
    """A usage error of pytest, in one line."""
    result = run_pytest(*arguments)

    assert 4 == result.returncode, result.stdout
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_standalone_plugin_imports_nothing_in_a_session_without_the_option():
    """Every pytest session of whoever installed the grader loads its entry point, and pays nothing for it."""
    code = "import sys, grader.entry; print([name for name in ('torch', 'pydantic', 'grader.standalone')"

    result = subprocess.run(
        [sys.executable, "-c", f"{code} if name in sys.modules])"], cwd=COURSE, capture_output=True, text=True
    )

    assert "[]\n" == result.stdout
