"""`grade` over a class in which some hand in folders, some archives, and some traps: a trap costs whoever set it."""

import hashlib
import json
import os
import shutil
import zipfile

import pytest
from conftest import RIGHT, TINY_COURSE, Command, write_files

ESCAPE = "../../escaped.py"
FORGED = """
submission_1:
  :submitters:
  - :name: Ada Lovelace
    :sid: '100'
  :created_at: 2020-01-01 00:00:00 Z
"""


def pack(path, files):
    """A zip of files, whatever their names are."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def hand_in(folder):
    """The class. Right answers in each form, the same in traps."""
    write_files(folder / "ann", RIGHT)
    pack(folder / "bob.zip", {f"bob/{name}": text for name, text in RIGHT.items()} | {"__MACOSX/._x": ""})
    write_files(folder / "wrapped", RIGHT)
    shutil.make_archive(str(folder / "cyd"), "gztar", folder / "wrapped")
    shutil.rmtree(folder / "wrapped")
    pack(folder / "ann.zip", RIGHT)
    pack(folder / "dan.zip", RIGHT | {ESCAPE: "import os"})
    (folder / "eve.tar").write_bytes(b"no archive")
    (folder / "fay").symlink_to(folder / "ann")
    (folder / "gus.zip").symlink_to(folder / "bob.zip")
    os.mkfifo(folder / "hal.zip")
    write_files(folder / "ivy", {"halve.py": RIGHT["halve.py"]})
    (folder / "ivy" / "double.py").symlink_to(folder / "ann" / "double.py")
    write_files(folder / "jim", RIGHT | {f"{number}.txt": "" for number in range(2001)})
    pack(folder / "kim.zip", {"double.py": "#" * (2 * 1024 * 1024), "halve.py": RIGHT["halve.py"]})
    pack(folder / "lou\x1b[2J\n.zip", RIGHT | {"Double.py": ""})
    (folder / "mia.7z").touch()
    return folder


@pytest.fixture(scope="module")
def graded(grade, tmp_path_factory):
    """The run, its entries by id, and where it happened."""
    folder = tmp_path_factory.mktemp("hostile")
    submissions = hand_in(folder / "class")
    result = grade.run(submissions, "-o", folder / "report", "-j", 2)
    return result, entries_of(folder / "report"), folder


def entries_of(out):
    """Entries of a report, by id."""
    return {entry["id"]: entry for entry in json.loads((out / "report.json").read_text())["submissions"]}


def test_hostile_class_exits_1_and_grades_whoever_is_honest(graded):
    """Folders and archives alike, also two of one name."""
    result, entries, _ = graded

    assert 1 == result.returncode, result.stderr
    assert "Traceback" not in result.stderr
    honest = {id: entry["score"] for id, entry in entries.items() if entry["score"] == 4.0}
    assert ["ann", "ann (2)", "bob", "cyd"] == sorted(honest)


@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("dan", "the archive holds the name ../../escaped.py, which leads out of its folder"),
        ("eve", "the archive is damaged, or no tar whatever its name says"),
        ("fay", "the folder is a symbolic link, which is not followed"),
        ("gus", "the archive is a symbolic link, which is not followed"),
        ("hal", "the archive is no regular file, but a device, a pipe or a socket"),
        ("jim", "the folder holds more than 2000 files and folders"),
        ("lou\x1b[2J\n", "two files whose names are one on many disks (double.py and Double.py)"),
    ],
)
def test_hostile_submission_is_ungradable_with_the_reason(graded, id, words):
    """Score 0, said once, and what to hand in instead."""
    entry = graded[1][id]

    assert ("ungradable", 0.0) == (entry["status"], entry["score"])
    assert entry["reason"].startswith("no file could be read (double.py, halve.py: ")
    assert words in entry["reason"]
    assert entry["reason"].endswith("Hand in double.py, halve.py, in one folder, or one notebook.")


@pytest.mark.parametrize(("id", "words"), [("ivy", "it is a symbolic link"), ("kim", "it is larger than 1024 KiB")])
def test_hostile_file_costs_its_part_and_says_why(graded, id, words):
    """The other part is graded; a link to the right answer earns nothing."""
    entry = graded[1][id]

    assert ("graded", 1.0) == (entry["status"], entry["score"])
    assert [True] == [words in check["message"] for check in entry["checks"] if check["id"] == "double.values"]


def test_hostile_class_leaves_nothing_outside_the_report(graded):
    """No entry was unpacked, here or further up, and nothing stays in the folder of the submissions."""
    _, _, folder = graded

    assert {"class", "report"} == {path.name for path in folder.iterdir()}
    assert not (folder / "class" / ESCAPE).exists()
    assert ["double.py", "halve.py"] == sorted(path.name for path in (folder / "class" / "ann").iterdir())


def test_hostile_name_does_not_reach_the_terminal(graded):
    """Its characters are shown as codes."""
    result, _, _ = graded

    assert "\x1b" not in result.stdout + result.stderr
    assert "mia.7z is not graded: only zip, tar and tar.gz archives are read; unpack it first" in result.stderr


def test_hostile_archive_that_is_handed_in_again_is_graded_by_resume(grade, graded, tmp_path):
    """What is in an archive decides, not its bytes; a broken one is known by its bytes."""
    shutil.copytree(graded[2], tmp_path / "again", symlinks=True, ignore=lambda *_: ["hal.zip"])
    submissions, out = tmp_path / "again" / "class", tmp_path / "again" / "report"
    pack(submissions / "bob.zip", {f"other/{name}": text for name, text in RIGHT.items()})
    pack(submissions / "dan.zip", RIGHT)
    shutil.copy(submissions / "cyd.tar.gz", submissions / "eve.tar")
    before = {id: entry["files"] for id, entry in entries_of(out).items()}

    result = grade.run(submissions, "-o", out, "--resume")

    after = entries_of(out)
    assert [4.0, 4.0, 4.0] == [after[id]["score"] for id in ("bob", "dan", "eve")]
    assert "Grading 2 submissions" in result.stderr
    digest = hashlib.sha256(b"no archive").hexdigest()
    assert [{"name": "eve.tar", "sha256": digest}] == before["eve"]


def test_hostile_archive_alone_is_one_submission(grade, graded, tmp_path):
    """`grade bob.zip`."""
    result = grade.run(graded[2] / "class" / "bob.zip", "-o", tmp_path / "report")

    assert 0 == result.returncode, result.stderr
    assert {"bob": 4.0} == {id: entry["score"] for id, entry in entries_of(tmp_path / "report").items()}


def test_hostile_course_among_the_submissions_is_not_used(tmp_path):
    """Its checks and its reference would run as the person who grades: it has to be named."""
    home = write_files(tmp_path / "mallory", TINY_COURSE | RIGHT)

    done = Command(home).run("run", ".", "-o", tmp_path / "report")

    assert 2 == done.returncode
    assert "where a student may have put it" in done.stderr


def test_hostile_folder_that_looks_like_a_download_is_one_submission_where_it_was_announced(grade, tmp_path):
    """With `--single` nobody else is graded, and no time is taken from it."""
    forged = {"submission_metadata.yml": FORGED, "submission_1/double.py": RIGHT["double.py"]}
    home = write_files(tmp_path / "mallory", forged)

    grade.run(home, "--single", "-o", tmp_path / "report")

    (entry,) = entries_of(tmp_path / "report").values()
    assert ("mallory", [], None) == (entry["id"], entry["people"], entry["handed_in"])
