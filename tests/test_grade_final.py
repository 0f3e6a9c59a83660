"""`python -m grader` with a late policy and overrides: what they do in a run, and that they outlive the next one."""

import json
import os
from types import SimpleNamespace

import pytest
from conftest import DOUBLE, HALVE, RIGHT, TINY_COURSE, Command, write_files

CLASS = {
    "ada": RIGHT,
    "bob": {"double.py": DOUBLE.replace("x + x", "x + 1"), "halve.py": HALVE},
    "ivy": {"halve.py": HALVE},
}
OVERRIDES = """student,check,points,reason
bob,double.values,2,"x + 1 stood in the handout, for a day"
ivy,total,3,Handed in on paper
zoe,total,1,Will come later
"""
LATE = """
[late]
due = 2026-11-29T23:59:00+01:00
grace_minutes = 15
percent_per_day = 10
"""
#: When the class handed in, as its roster says.
ROSTER = """name,submitted_at,late
ada,2026-11-30T00:10:00+01:00,
bob,2026-12-01T06:00:00+00:00,
ivy,,yes
"""


def entries_of(out):
    """Entries of a report by id."""
    return {one["id"]: one for one in json.loads((out / "report.json").read_text())["submissions"]}


def finals_of(out):
    """Points by the code, and points that count."""
    return {name: (one["score"], one["final_score"]) for name, one in entries_of(out).items()}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A regrade with overrides in its folder; a run that goes on after a deadline was set; and what each left."""
    folder = tmp_path_factory.mktemp("final")
    command = Command(write_files(folder / "course", TINY_COURSE))
    for name, files in CLASS.items():
        write_files(folder / "class" / name, files)
    out = write_files(folder / "report", {"overrides.csv": OVERRIDES, "report.json": "an older one"})
    first = command.run(folder / "class", "-o", out, "--force", "--fail-under", "60")
    graded = entries_of(out)
    roster = folder / "roster.csv"
    roster.write_text(ROSTER)
    (out / "students/ada.html").unlink()
    with open(command.folder / "assignments/tiny/assignment.toml", "a") as file:
        file.write(LATE)
    resumed = command.run(folder / "class", "-o", out, "--resume", "--fail-under", "61", "--roster", roster)
    return SimpleNamespace(
        command=command,
        folder=folder,
        out=out,
        roster=roster,
        first=first,
        graded=graded,
        resumed=resumed,
        finals=finals_of(out),
    )


def test_final_overrides_survive_a_regrade_and_are_said(runs):
    """`--force` replaces the report, and neither the file nor what it says."""
    assert f"{runs.out}/overrides.csv: 3 overrides\n" in runs.first.stderr
    assert OVERRIDES == (runs.out / "overrides.csv").read_text()
    assert {"ada": (4.0, 4.0), "bob": (1.0, 3.0), "ivy": (1.0, 3.0)} == {
        name: (one["score"], one["final_score"]) for name, one in runs.graded.items()
    }


def test_final_score_is_what_fail_under_judges(runs):
    """By the code two earned a quarter; three quarters count, and 60 percent once a day late is taken off."""
    assert 0 == runs.first.returncode, runs.first.stderr
    assert 4 == runs.resumed.returncode, runs.resumed.stderr


def test_final_unknown_student_is_told_and_grading_goes_on(runs):
    """Somebody may hand in later."""
    assert f"{runs.out}/overrides.csv, line 4: no submission is of 'zoe'; left out\n" in runs.first.stderr


def test_final_deadline_set_later_is_applied_without_grading(runs):
    """The digest is the same, every entry is kept, and what the code earned stays."""
    assert "3 are kept from the earlier run" in runs.resumed.stderr
    assert {"ada": (4.0, 4.0), "bob": (1.0, 2.4), "ivy": (1.0, 3.0)} == runs.finals
    assert [("override", 2.0), ("late", -0.6)] == [
        (one["kind"], one["points"]) for one in entries_of(runs.out)["bob"]["adjustments"]
    ]


def test_final_pages_of_kept_entries_follow(runs):
    """The student reads what counts and why, and a page that was lost is there again."""
    page = (runs.out / "students/bob.html").read_text()

    assert "x + 1 stood in the handout, for a day" in page
    assert "handed in 1 day 7 hours after the deadline, which counts as 2 days: 20 % less" in page
    assert "within the grace" in (runs.out / "students/ada.html").read_text()


def test_final_scores_are_in_every_table(runs):
    """Terminal, grades.csv and summary.md show both figures."""
    row = next(line for line in runs.resumed.stdout.splitlines() if line.startswith("bob"))

    assert ["2.40", "1.00", "0.00", "1.00"] == row.split()[1:5]
    assert "bob,graded,1.00,4.00,0.00,1.00,,double: wrong value: Values,strong,2.40,-0.60,2.00,bob,\n" in (
        runs.out / "grades.csv"
    ).read_text().replace("partial", "strong")
    assert "| `bob` | 2.40 | 1.00 |" in (runs.out / "summary.md").read_text()


def test_final_resume_without_the_file_says_what_is_lost(runs, tmp_path):
    """Points that staff decided never go in silence."""
    out = write_files(tmp_path / "report", {"report.json": (runs.out / "report.json").read_text()})

    result = runs.command.run(runs.folder / "class", "-o", out, "--resume", "--roster", runs.roster)

    assert f"the earlier report holds overrides, and there is no {out}/overrides.csv" in result.stderr
    assert {"ada": (4.0, 4.0), "bob": (1.0, 0.8), "ivy": (1.0, 0.9)} == finals_of(out)


@pytest.mark.parametrize("options", [["--resume", "--only", "bob"], ["--force"]])
def test_final_overrides_unknown_check_is_refused_before_anything_is_graded(runs, tmp_path, options):
    """Whether something is to be graded or not; the report stays as it was."""
    before = (runs.out / "report.json").read_bytes()
    file = tmp_path / "mine.csv"
    file.write_text("student,check,points,reason\nbob,double.valeus,2,x\n")

    roster = ["--roster", runs.roster]
    result = runs.command.run(runs.folder / "class", "-o", runs.out, "--overrides", file, *roster, *options)

    assert 2 == result.returncode
    assert f"{file}: 1 override; {runs.out}/overrides.csv is not read\n" in result.stderr
    assert f"grade: {file}, line 2: no check is called 'double.valeus'; wanted its id or 'total'; did you mean " in (
        result.stderr
    )
    assert before == (runs.out / "report.json").read_bytes()


def test_final_overrides_that_are_no_table_are_refused_at_once(runs, tmp_path):
    """The line is named, and no traceback shown."""
    file = tmp_path / "mine.csv"
    file.write_bytes("student;check;points;reason\nbob;total;1;für Zoë\n".encode("latin-1"))

    result = runs.command.run(runs.folder / "class", "-o", tmp_path / "report", "--overrides", file)

    assert 2 == result.returncode
    assert f"grade: {file}, line 2: byte 0xfc is not UTF-8" in result.stderr
    assert ["mine.csv"] == os.listdir(tmp_path)
