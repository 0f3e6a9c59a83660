"""A platform's zip and a roster, graded from beginning to end and again: who is who, and who is missing."""

import csv
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from class_files import as_zip, zipped
from conftest import DOUBLE, HALVE, RIGHT

WRONG = DOUBLE.replace("x + x", "x + 1")
CLASS = {
    "ångströmzoë_LATE_12_100_double.py": DOUBLE,
    "ångströmzoë_LATE_12_101_halve.py": HALVE,
    "leekim_13_102_hw.zip": zipped({f"hw/{name}": text for name, text in RIGHT.items()}),
    "leekim_14_103_double.py": WRONG,
    "roeriley_15_text.html": "<p>",
    "strayeve_99_104_double.py": DOUBLE,
}
GRADEBOOK = """Student,ID,SIS Login ID,Section,Doubling (5)
    Points Possible,,,,4
"Ångström, Zoë",12,zang,A,
"Lee, Kim",13,klee,A,
"Lee, Kim",14,klee2,B,
"Roe, Riley",15,rroe,B,
"<b>Max</b>, Iris",16,,B,
"""
#: After the deadline: Kim, and Iris, who handed in at last.
AGAIN = CLASS | {"leekim_14_203_double-1.py": DOUBLE, "mbmaxbiris_16_300_double.py": DOUBLE}
EXTENDED = GRADEBOOK.replace("SIS Login ID,Section", "SIS Login ID,days").replace("zang,A", "zang,2")


def read(out):
    """The report, its entries by id, and the table."""
    report = json.loads((out / "report.json").read_text())
    with open(out / "grades.csv", newline="") as file:
        table = {row["id"]: row for row in csv.DictReader(file)}
    return report, {entry["id"]: entry for entry in report["submissions"]}, table


@pytest.fixture(scope="module")
def runs(grade, tmp_path_factory):
    """The class graded, and then gone on with, from a newer download with a newer roster; both reports are kept."""
    folder = tmp_path_factory.mktemp("class")
    roster, out = folder / "gradebook.csv", folder / "report"
    roster.write_text(GRADEBOOK)
    first = grade.run(as_zip(folder / "submissions.zip", CLASS), "--roster", roster, "-o", out, "--seed", 5)
    assert 1 == first.returncode, first.stderr
    before = Path(shutil.copytree(out, folder / "before"))
    roster.write_text(EXTENDED.replace(",A,", ",,").replace(",B,", ",,"))
    again = grade.run(as_zip(folder / "submissions.zip", AGAIN), "--roster", roster, "-o", out, "--resume")
    return SimpleNamespace(first=first, before=before, again=again, after=out, folder=folder, roster=roster)


def test_grade_class_zip_says_what_it_is_and_who_is_missing(runs):
    """How the class came, who is a stranger, and at the end who handed nothing in."""
    assert 1 == runs.first.returncode, runs.first.stderr
    assert [
        "Canvas download: 6 files of 5 students, 1 marked late",
        "  gradebook.csv: 1 submission is of nobody on it: strayeve_99",
    ] == runs.first.stderr.splitlines()[:2]
    assert "1 of 5 on gradebook.csv handed nothing in: Iris <b>Max</b>\n" in runs.first.stdout


def test_grade_class_entries_know_people_and_times(runs):
    """Graded or not, with the names of the roster."""
    report, entries, table = read(runs.before)

    assert {"graded": 4, "ungradable": 1} == {
        status: sum(one["status"] == status for one in entries.values()) for status in ("graded", "ungradable")
    }
    assert ["Kim Lee", "Kim Lee", "Riley Roe", "", "Zoë Ångström"] == [table[id]["name"] for id in sorted(table)]
    assert {"name": "Zoë Ångström", "email": "", "lms_id": "12", "login": "zang"} == entries["ångströmzoë_12"][
        "people"
    ][0]
    assert [False, True] == [entries[id]["handed_in"]["is_marked_late"] for id in ("leekim_13", "ångströmzoë_12")]
    assert 4 == entries["leekim_13"]["score"]
    assert ["Iris <b>Max</b>"] == [person["name"] for person in report["missing"]]
    assert (["strayeve_99"], 5, "gradebook.csv") == (report["strangers"], report["on_roster"], report["roster"])


def test_grade_class_pages_of_staff_name_people_and_those_of_students_nobody_else(runs):
    """Names stand beside ids, markup in a name is text, and who is missing is no student's business."""
    index = (runs.before / "index.html").read_text()
    students = "".join(page.read_text() for page in (runs.before / "students").iterdir())

    assert "Zoë Ångström" in index and "1 of 5 handed nothing in" in index
    assert "Iris &lt;b&gt;Max&lt;/b&gt;" in index
    assert "Iris" not in students and "Kim Lee" not in students
    assert "`Iris <b>Max</b>`" in (runs.before / "summary.md").read_text()


def test_grade_class_again_grades_what_is_new_and_keeps_the_rest(runs):
    """Ids are those of before: one newer file, one student more."""
    assert "4 are kept from the earlier run" in runs.again.stderr
    _, before, _ = read(runs.before)
    report, entries, _ = read(runs.after)
    assert {"leekim_14"} == {id for id in before if entries[id]["checks"] != before[id]["checks"]}
    assert 3 == entries["leekim_14"]["score"]
    assert [] == report["missing"]


def test_grade_class_again_puts_what_is_newly_known_into_kept_entries(runs):
    """The roster has an extension now; the kept entry has it, and its page too."""
    _, entries, _ = read(runs.after)

    assert 48 == entries["ångströmzoë_12"]["handed_in"]["extension_hours"]
    pages = [page.read_text() for page in (runs.after / "staff").iterdir()]
    assert 1 == sum("eadline extended by 2 days" in page for page in pages)


def test_grade_class_without_its_roster_is_not_gone_on_with(grade, runs):
    """Names would grow old, and somebody stay missing who is not."""
    result = grade.run(runs.folder / "submissions.zip", "-o", runs.after, "--only", "leekim_14")

    assert 2 == result.returncode
    assert "was made with the roster gradebook.csv; name it with --roster" in result.stderr


def test_grade_class_only_compares_the_whole_class_with_the_roster(grade, runs):
    """Who is not graded now is not missing."""
    out = Path(shutil.copytree(runs.after, runs.folder / "only"))

    result = grade.run(runs.folder / "submissions.zip", "-o", out, "--only", "leekim_14", "--roster", runs.roster)

    assert "Grading 1 submission of tiny" in result.stderr
    assert [] == read(out)[0]["missing"]


@pytest.mark.parametrize("damage", ["roster", "download"])
def test_grade_class_damage_is_told_before_anything_is_graded(grade, runs, tmp_path, damage):
    """Exit code 2, a sentence, and no report."""
    download, roster = as_zip(tmp_path / "submissions.zip", CLASS), tmp_path / "roster.csv"
    roster.write_text("name,days\nAda,two\n" if damage == "roster" else GRADEBOOK)
    if damage == "download":
        download.write_bytes(download.read_bytes()[:-100])

    result = grade.run(download, "--roster", roster, "-o", tmp_path / "report")

    assert 2 == result.returncode
    assert 1 == len(result.stderr.splitlines())
    assert not (tmp_path / "report").exists()
