"""`grade export` as a person types it: files, exit codes, what is said, and what is never overwritten."""

import csv
import io
import json
import os
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from conftest import Command, environment
from sample_people import canvas_export, moodle_worksheet, people_report
from sample_report import HOSTILE, make_report, make_submission

from grader.cli import main
from grader.report_json import to_json


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a report and two templates."""
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "report.json").write_text(to_json(people_report()))
    (tmp_path / "canvas.csv").write_text(canvas_export())
    (tmp_path / "moodle.csv").write_text(moodle_worksheet(), newline="")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def export(*arguments):
    """Run the command in this process; what a user sees."""
    return CliRunner().invoke(main, ["export", *map(str, arguments)], catch_exceptions=False)


def test_export_canvas_writes_the_filled_template_and_says_so(folder):
    """Exit code 1: somebody of the report has no row, somebody no score."""
    result = export("canvas", "report", "--template", "canvas.csv", "-o", "filled.csv")

    assert 1 == result.exit_code
    assert '"Lindqvist, Ada",101,S1,alindqvist' in (folder / "filled.csv").read_text()
    assert "Ångström, Bo (102): 80.00 -> 87.50" in result.stderr
    assert "" == result.stdout
    assert canvas_export() == (folder / "canvas.csv").read_text()


def test_export_to_a_closed_output_is_as_good_as_nowhere(folder):
    """No traceback."""
    command = [sys.executable, "-m", "grader", "export", "csv", "report"]
    done = subprocess.run(
        command, cwd=folder, env=environment(), preexec_fn=lambda: os.close(1), stderr=subprocess.PIPE
    )

    assert (0, b"") == (done.returncode, done.stderr)


def test_export_with_a_template_without_an_end_is_refused(folder):
    """A device gives whatever is asked for, until this machine has no memory left."""
    result = export("canvas", "report", "--template", "/dev/zero")

    assert 2 == result.exit_code
    assert "/dev/zero is larger than 32 MiB" in result.stderr


def test_export_with_a_template_of_one_long_line_quotes_a_little_of_it(folder):
    """Whatever it is, the message is one to be read."""
    (folder / "long.csv").write_text(",".join(["x" * 1000] * 100))

    assert 3000 > len(export("canvas", "report", "--template", "long.csv").stderr)


def test_export_of_whoever_has_a_row_and_a_score_exits_0(folder):
    """Students of the template who handed nothing in are no fault."""
    assert 0 == export("canvas", "report", "--template", "canvas.csv", "--student", "group*").exit_code


def test_export_to_standard_output_is_the_file_alone(folder):
    """To the byte; what is said goes elsewhere. In a process of its own, as in a shell."""
    done = Command(folder).run("export", "moodle", "report/report.json", "--template", "moodle.csv")

    assert 1 == done.returncode
    assert done.stdout.startswith("Identifier,Full name") and "filled" not in done.stdout
    assert "Grade: 4 filled, 1 changed, 0 as before" in done.stderr


def test_export_moodle_writes_comments_of_what_a_student_may_see(folder):
    """HTML, in a column that is named."""
    export("moodle", "report", "--template", "moodle.csv", "--feedback-column", "Feedback comments", "-o", "out.csv")

    rows = list(csv.DictReader(io.StringIO((folder / "out.csv").read_bytes().decode(), newline="")))
    assert "<p><strong>Attention: 82.00 of 100.00 points</strong></p>" in rows[0]["Feedback comments"]
    assert (
        "<pre>scaled_dot_product_attention(query, key, value) returned wrong values<br>" in rows[3]["Feedback comments"]
    )
    assert "<p>Nice, Bo</p>" == rows[1]["Feedback comments"]


def test_export_gradescope_writes_one_submission(folder):
    """Chosen by a person's login."""
    result = export("gradescope", "report", "--student", "alindqvist", "-o", "results.json")

    assert 0 == result.exit_code
    assert 82 == json.loads((folder / "results.json").read_text())["score"]


def test_export_gradescope_of_a_grader_error_leaves_no_file(folder):
    """Nothing that Gradescope could take for a score."""
    result = export("gradescope", "report", "--student", "jane", "-o", "results.json")

    assert 2 == result.exit_code
    assert "jane: the grader failed on it" in result.stderr
    assert not (folder / "results.json").exists()


def test_export_junit_with_a_student_is_for_the_student(folder):
    """Unless staff ask for theirs."""
    student = export("junit", "report", "--student", "wang").stdout
    staff = export("junit", "report", "--student", "wang", "--view", "staff").stdout

    assert ["wang"] == [one.get("name") for one in ElementTree.fromstring(student.encode())]
    assert "王小明" not in student and "王小明" in staff


def test_export_markdown_is_of_the_class_or_of_a_student(folder):
    """The summary, or what the student may see."""
    assert "**6 submissions**" in export("markdown", "report").stdout
    assert "## Attention: 82.00 of 100.00 points" in export("markdown", "report", "--student", "ada").stdout


def test_export_csv_holds_everybody(folder):
    """Seven people in six submissions."""
    assert 8 == export("csv", "report").stdout.count("\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["canvas", "report"], "--template is missing: the course's own gradebook export is needed: in Canvas, Grades"),
        (["moodle", "report"], "--template is missing: the assignment's own worksheet is needed"),
        (["canvas", "report", "--template", "no.csv"], "no.csv: No such file or directory; nothing was written"),
        (["canvas", "report", "--template", "canvas.csv", "-o", "./canvas.csv"], "is the template itself"),
        (["canvas", "report", "--template", "canvas.csv", "-o", "link.csv"], "is the template itself"),
        (["csv", "report", "-o", "report/report.json"], "is the report itself, which stays as it is; name another"),
        (["csv", "nowhere"], "nowhere does not exist; wanted a report's folder, or its report.json"),
        (["csv", "."], "holds no report.json; wanted the folder that `grade` wrote"),
        (["csv", "broken"], "broken holds a run that has not ended; end it: grade ... -o broken --resume"),
        (["csv", "canvas.csv"], "canvas.csv: got "),
        (["csv", "report", "-o", "report"], "report: Is a directory; nothing was written"),
        (["csv", "report", "-o", "no/where.csv"], "no/where.csv: No such file or directory; nothing was written"),
        (
            ["csv", "report", "--student", "wong"],
            "--student wong: no submission of the report is meant by it; near: wang",
        ),
        (
            ["gradescope", "report"],
            "6 submissions are meant, and this is made for one: choose it with --student (ada, ",
        ),
        (["moodle", "report", "--template", "moodle.csv", "--title", "x=y"], "'x=y'; wanted WHAT=TITLE, with WHAT one"),
    ],
)
def test_export_wrong_usage_exits_2_and_says_what_to_do(folder, arguments, words):
    """One line, no traceback, and every file as it was."""
    (folder / "link.csv").symlink_to("canvas.csv")
    (folder / "broken").mkdir()
    (folder / "broken" / "journal.jsonl").touch()

    result = export(*arguments)

    assert 2 == result.exit_code
    assert words in result.stderr and "Traceback" not in result.output
    assert canvas_export() == (folder / "canvas.csv").read_text()
    assert to_json(people_report()) == (folder / "report" / "report.json").read_text()


def test_export_into_a_file_replaces_it_whole_and_keeps_its_permissions(folder):
    """Grades that only their owner may read stay so, and nothing else is left in the folder."""
    (folder / "out.csv").write_text("x" * 100_000)
    (folder / "out.csv").chmod(0o600)
    before = {*os.listdir()}

    export("csv", "report", "-o", "out.csv")

    assert (folder / "out.csv").read_text().startswith("submission,")
    assert 0o600 == (folder / "out.csv").stat().st_mode & 0o777
    assert before == {*os.listdir()}


def test_export_follows_a_link_to_the_file_it_is_for(folder):
    """The link stays a link."""
    (folder / "real").mkdir()
    (folder / "out.csv").symlink_to("real/out.csv")

    export("csv", "report", "-o", "out.csv")

    assert (folder / "out.csv").is_symlink()
    assert (folder / "real" / "out.csv").read_text().startswith("submission,")


def test_export_says_nothing_hostile_to_a_terminal(folder):
    """Names of submissions are what students chose."""
    (folder / "report" / "report.json").write_text(to_json(make_report(make_submission(id=HOSTILE), make_submission())))

    result = export("gradescope", "report")

    assert 2 == result.exit_code
    assert not {"\x1b", "\u202e"} & set(result.output)
