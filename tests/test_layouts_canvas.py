"""A Canvas download: names, late marks, copies, several attachments, and what is no file."""

import pytest
from class_files import STUBS, read_both, read_folder, zipped

from grader.handed_in import HandIn, Person, TimeSource
from grader.layouts.canvas import read_name


@pytest.mark.parametrize(
    ("entry", "name", "user", "is_late", "number", "file"),
    [
        ("doejane_12345_67890_mix.py", "doejane", "12345", False, 67890, "mix.py"),
        ("doejane_LATE_12345_67890_mix.py", "doejane", "12345", True, 67890, "mix.py"),
        ("doe_jane_12345_67890_mix.py", "doe_jane", "12345", False, 67890, "mix.py"),
        ("müllerzoë_1_2_my_1_2_mix.py", "müllerzoë", "1", False, 2, "my_1_2_mix.py"),
        ("李小龍_7_8_mix.py", "李小龍", "7", False, 8, "mix.py"),
        ("_7_0_mix.py", "", "7", False, 0, "mix.py"),
        ("12_7_8_mix.py", "12", "7", False, 8, "mix.py"),
        ("team_2_7_8_mix.py", "team_2", "7", False, 8, "mix.py"),
        ("doejane_12345_67890_1_mix.py", "doejane", "12345", False, 67890, "1_mix.py"),
        ("doejane_LATE_12345_67890_99999_mix.py", "doejane", "12345", True, 67890, "99999_mix.py"),
        ("anon_Ab3xZ_67890_mix.py", "anon", "Ab3xZ", False, 67890, "mix.py"),
        ("LATE_anon_Ab3xZ_67890_mix.py", "anon", "Ab3xZ", True, 67890, "mix.py"),
        ("doejane_LATE_12345_text.html", "doejane", "12345", True, -1, "text"),
        ("anon_Ab3xZ_link.html", "anon", "Ab3xZ", False, -1, "link"),
    ],
)
def test_canvas_name_is_taken_apart(entry, name, user, is_late, number, file):
    """Each form that Canvas writes, with names that have numbers, underscores and letters of other alphabets."""
    found = read_name(entry, STUBS)

    assert (name, user, is_late, number, file) == (found.name, found.user, found.is_late, found.number, found.file)


@pytest.mark.parametrize("entry", ["mix.py", "doejane_mix.py", "doejane_12_mix.py", "ada.zip", "hw_2026.zip"])
def test_canvas_other_names_are_none_of_its(entry):
    """What a student or a TA calls a file is not mistaken for it."""
    assert read_name(entry, STUBS) is None


def test_canvas_download_groups_attachments_by_user(tmp_path):
    """Several files are one submission, two students of one name are two, and the mark of lateness is kept."""
    found = read_both(
        tmp_path,
        {
            "leekim_LATE_7_100_mix.py": "seven",
            "leekim_LATE_7_101_scale_up.py": "seven too",
            "leekim_8_102_mix.py": "eight",
        },
    )

    assert "Canvas download: 3 files of 2 students, 1 marked late" == found.summary
    assert {
        "leekim_7": {"mix.py": "seven", "scale_up.py": "seven too"},
        "leekim_8": {"mix.py": "eight"},
    } == found.files
    assert (Person(lms_id="7"),) == found.found["leekim_7"].people
    assert HandIn(source=TimeSource.PLATFORM, is_marked_late=True) == found.found["leekim_7"].handed_in
    assert HandIn(source=TimeSource.PLATFORM) == found.found["leekim_8"].handed_in


def test_canvas_id_of_a_student_does_not_change_with_what_is_handed_in(tmp_path):
    """Another attachment, now late: the same submission, so that an earlier report can be continued."""
    before = read_folder(tmp_path / "a", {"leekim_7_100_mix.py": "1"})
    after = read_folder(tmp_path / "b", {"leekim_LATE_7_200_mix-1.py": "2"})

    assert ["leekim_7"] == list(before.found) == list(after.found)
    assert {"mix.py": "2"} == after.files["leekim_7"]


def test_canvas_older_file_of_the_same_name_is_noted_without_naming_it_twice(tmp_path):
    """A student may attach one name again."""
    found = read_folder(tmp_path, {"leekim_7_102_mix.py": "newest", "leekim_7_100_mix.py": "oldest"})

    assert ["mix.py was not read: one of the same name, handed in later, counts"] == found.notes["leekim_7"]


def test_canvas_newest_copy_counts_and_the_others_are_noted(tmp_path):
    """The highest number of an attachment is the last, whatever the mark in its name says."""
    found = read_folder(
        tmp_path,
        {
            "leekim_7_102_mix.py": "newest",
            "leekim_7_100_mix-2.py": "oldest",
            "leekim_7_101_mix-1.py": "older",
            "leekim_7_103_part-1.py": "one",
            "leekim_7_104_part-2.py": "two",
        },
    )

    assert {"mix.py": "newest", "part-1.py": "one", "part-2.py": "two"} == found.files["leekim_7"]
    assert [
        "mix-1.py was not read: mix.py, handed in later, counts",
        "mix-2.py was not read: mix.py, handed in later, counts",
    ] == found.notes["leekim_7"]


def test_canvas_neighbour_that_was_handed_in_again_can_be_imported(tmp_path):
    """Its own name is the one that other files import."""
    found = read_folder(
        tmp_path,
        {"leekim_7_100_layers-2.py": "1", "leekim_7_101_more.py": "old", "leekim_7_102_more-1.py": "new"},
    )

    assert {"layers.py": "1", "more.py": "new"} == found.files["leekim_7"]


def test_canvas_archives_of_a_student_are_put_together(tmp_path):
    """A newer archive completes an older one, file by file, and what lies open counts by the same rule."""
    found = read_both(
        tmp_path,
        {
            "leekim_7_100_hw.zip": zipped({"hw/mix.py": "old", "hw/scale_up.py": "only here"}),
            "leekim_7_101_hw-1.zip": zipped({"hw-1/mix.py": "new"}),
        },
    )

    assert {"mix.py": "new", "scale_up.py": "only here"} == found.files["leekim_7"]
    assert ["hw.zip/hw/mix.py was not read: of two, the one handed in as hw-1.zip counts"] == found.notes["leekim_7"]


def test_canvas_text_is_noted_and_not_taken_for_files(tmp_path):
    """A submission of which nothing can be read is still somebody's, and nobody else's files come into it."""
    found = read_folder(tmp_path, {"roeriley_9_text.html": "<p>mix</p>", "leekim_7_100_mix.py": "1"})

    assert {} == found.files["roeriley_9"]
    assert ["a text was handed in in Canvas itself (roeriley_9_text.html); not read"] == found.notes["roeriley_9"]


def test_canvas_anonymous_download_names_nobody(tmp_path):
    """The anonymous number is all there is, and it is said."""
    found = read_folder(tmp_path, {"anon_Ab3xZ_100_mix.py": "1", "LATE_anon_Zz9_101_mix.py": "2"})

    assert "Anonymous Canvas download: 2 files of 2 students, 1 marked late" == found.summary
    assert ["anon_Ab3xZ", "anon_Zz9"] == sorted(found.found)


def test_canvas_leftovers_are_named(tmp_path):
    """What a Mac adds is nothing; what a person put there is told."""
    found = read_both(
        tmp_path,
        {"leekim_7_100_mix.py": "1", "__MACOSX/._leekim_7_100_mix.py": "", ".DS_Store": "", "grades.csv": "x"},
    )

    assert ["leekim_7"] == list(found.found)
    assert ["grades.csv: not named as Canvas names a submission, and left"] == found.remarks


def test_canvas_archive_that_cannot_be_read_is_said_to_be(tmp_path):
    """Another kind of archive, and a damaged one."""
    found = read_folder(tmp_path, {"leekim_7_100_hw.rar": "Rar!", "roeriley_9_101_hw.zip": "PK\x03\x04"})

    assert [
        "hw.rar was not read: only zip, tar and tar.gz archives are read; hand in one of those, or the files themselves"
    ] == found.notes["leekim_7"]
    assert found.problems["roeriley_9"].startswith("the archive is damaged")
