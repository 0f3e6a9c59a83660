"""`grade compare OLD NEW`: which reports it takes, what it writes, and its exit codes."""

import json

import pytest
from click.testing import CliRunner
from sample_report import make_header, make_submission

from grader.cli import main
from grader.report_json import json_chunks
from grader.store import Store


@pytest.fixture
def reports(tmp_path):
    """Folders of two runs, `old` and `new`, that differ in one score, and one of a run that has not ended."""
    for name, score in (("old", 10), ("new", 12)):
        text = "".join(json_chunks(make_header(), [make_submission(score=score), make_submission(id="bob")]))
        Store(tmp_path / name).write("report.json", text)
    Store(tmp_path / "open").begin(make_header(), [])
    (tmp_path / "empty").mkdir()
    return tmp_path


@pytest.fixture
def run(reports):
    """Run the command on names of these folders."""

    def compare(*arguments):
        given = [str(reports / one) if not one.startswith("--") and one != "-o" else one for one in arguments]
        return CliRunner().invoke(main, ["compare", *given])

    return compare


def test_compare_reports_that_differ_exits_1(run, reports):
    """Which report is which stands first."""
    result = run("old", "new")

    assert 1 == result.exit_code, result.output
    assert result.stdout.startswith(
        f"OLD  {reports}/old/report.json: 2 submissions of attention, 2026-11-29 17:50 UTC, seed 7\nNEW  {reports}/new/"
    )
    assert "2 in both: 1 up, 0 down, 1 same; mean 11.25, now 12.25 (+1.00)" in result.stdout
    assert "bob" not in result.stdout


def test_compare_equal_reports_exits_0(run):
    """A folder and a file are the same to it."""
    result = run("old", "old/report.json")

    assert 0 == result.exit_code, result.output
    assert "Nothing changed for anybody" in result.stdout


def test_compare_writes_json_and_csv(run, reports):
    """All of it, whatever the terminal shows."""
    run("old", "new", "--json", "changes.json", "-o", "changes.csv")

    written = json.loads((reports / "changes.json").read_text())
    assert (1, ["ada"]) == (written["up"], [one["id"] for one in written["students"]])
    assert "ada,,graded,graded,10.00,12.00\n" in (reports / "changes.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["old"], "Missing argument 'NEW'"),
        (["old", "nowhere"], "nowhere' does not exist"),
        (["old", "empty"], "empty holds no report.json; wanted the folder that `grade` wrote"),
        (["open", "new"], "holds a run that has not ended; end it: grade ... -o "),
        (["old", "torn.json"], "torn.json: got "),
        (["old", "new", "-o", "old/report.json/x.csv"], "name another file"),
    ],
)
def test_compare_wrong_usage_exits_2_and_says_what_is_wanted(run, reports, arguments, words):
    """Without a traceback."""
    (reports / "torn.json").write_text("{")

    result = run(*arguments)

    assert 2 == result.exit_code, result.output
    assert words in result.stderr
    assert result.exception is None or isinstance(result.exception, SystemExit)
