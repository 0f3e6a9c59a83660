"""A Gradescope export: its metadata, groups, times, and damage."""

from datetime import UTC, datetime

import pytest
from class_files import Class, as_zip, read_both, read_folder
from conftest import write_files

from grader.handed_in import HandIn, Person, TimeSource
from grader.layouts.gradescope import read_metadata
from grader.layouts.layout import LayoutError

ADA = """submission_11:
  :submitters:
  - :name: Ada Lovelace
    :sid: '0100'
    :email: ada@uni.example
  :created_at: 2026-03-01 09:30:00.250000000 Z
  :score: 12.0
  :results:
    tests:
    - name: prints
      output: |2-
          :submitters:
        !!python/object/apply:os.system ["true"]
        submission_99: {{{
    execution_time: 3
  :history:
  - :created_at: 2025-01-01 00:00:00 Z
"""
GROUP = """submission_12:
  :submitters:
  - :name: "Zo\\xEB \\xC5ngstr\\xF6m"
    :sid: 200
  - :name: Bob Roe
    :email: bob@uni.example
  :created_at: 2026-03-01 10:00:00 +01:00
"""
NAMELESS = """submission_13:
  :submitters:
  - :name: Kim Lee
  :created_at: 2026-03-01T10:00:00
submission_14:
  :submitters:
  - :name: Kim Lee
"""


def export(metadata, *numbers):
    """Files of an export: a folder for each number."""
    files = {f"assignment_7_export/submission_{number}/mix.py": str(number) for number in numbers}
    return {**files, "assignment_7_export/submission_metadata.yml": metadata}


def refusal(metadata):
    """What is said of damaged metadata."""
    with pytest.raises(LayoutError) as refused:
        read_metadata(metadata, "submission_metadata.yml")
    return str(refused.value)


def test_gradescope_export_is_read_with_people_and_times(tmp_path):
    """Also a group, a number that is no text, Unicode, and what a student printed beside it."""
    found = read_both(tmp_path, export(ADA + GROUP, 11, 12))

    ada, group = found.found["Ada Lovelace_0100"], found.found["Bob Roe_bob@uni.example + Zoë Ångström_200"]
    assert "Gradescope export: 2 submissions of 3 students" == found.summary
    assert {"mix.py": "11"} == found.files[ada.id]
    assert (Person(name="Ada Lovelace", email="ada@uni.example", lms_id="0100"),) == ada.people
    when = datetime(2026, 3, 1, 9, 30, 0, 250000, tzinfo=UTC)
    assert HandIn(source=TimeSource.PLATFORM, time=when) == ada.handed_in
    assert ["Zoë Ångström", "Bob Roe"] == [person.name for person in group.people]
    assert datetime(2026, 3, 1, 9, 0, tzinfo=UTC) == group.handed_in.time


def test_gradescope_people_of_one_name_without_numbers_stay_apart(tmp_path):
    """Nothing tells them apart but the submission; neither one's files are dropped."""
    found = read_folder(tmp_path, export(NAMELESS, 13, 14))

    assert {"Kim Lee (submission_13)": {"mix.py": "13"}, "Kim Lee (submission_14)": {"mix.py": "14"}} == found.files


def test_gradescope_name_that_reads_like_anothers_id_takes_nobodys_place(tmp_path):
    """A name is a student's own word, and this one's submission is the later one."""
    mallory = ADA.replace("Ada Lovelace", "Ada Lovelace_0100").replace("submission_11", "submission_20")
    mallory = "".join(line for line in mallory.splitlines(True) if ":sid:" not in line and ":email:" not in line)

    found = read_folder(tmp_path, export(ADA + mallory.replace("2026-03-01 09", "2026-03-02 09"), 11, 20))

    assert [{"mix.py": "11"}, {"mix.py": "20"}] == list(found.files.values())


def test_gradescope_id_does_not_change_when_a_student_hands_in_again(tmp_path):
    """The number of a submission does; of two of one person in an export the last counts, and it is said."""
    again = ADA.replace("submission_11", "submission_20").replace("2026-03-01 09", "2026-03-02 09")

    found = read_folder(tmp_path, export(ADA + again, 11, 20))

    assert {"Ada Lovelace_0100": {"mix.py": "20"}} == found.files
    assert ["Ada Lovelace_0100 has 2 submissions: submission_20, the last, counts; submission_11 not"] == found.remarks


def test_gradescope_folders_and_metadata_that_do_not_fit_are_told(tmp_path):
    """A folder nobody tells of is graded under its own name; one that is missing is a damaged export."""
    found = read_folder(tmp_path, export(ADA + GROUP, 11, 55))

    assert {"mix.py": "55"} == found.files["submission_55"]
    assert [
        "submission_metadata.yml tells of submission_12, which the export does not hold: export it again",
        "submission_metadata.yml does not tell whose submission_55 is",
    ] == found.remarks


def test_gradescope_export_without_metadata_is_graded_without_names(tmp_path):
    """Somebody kept only the folders."""
    found = Class(write_files(tmp_path, {"submission_1/mix.py": "1", "submission_2/mix.py": "2"}))

    assert {"submission_1": {"mix.py": "1"}, "submission_2": {"mix.py": "2"}} == found.files
    assert [
        "submission_metadata.yml is missing: names and times are not known; it lies at the top of an export"
    ] == found.remarks


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        (ADA.replace("'0100'", "'0100"), "submission_metadata.yml is damaged near submission submission_11: "),
        ("\n", "submission_metadata.yml tells of no submission"),
        ("submission_1: nothing\n", "submission_metadata.yml, submission_1: got 'nothing', wanted submitters"),
        ("submission_1:\n  :submitters: ada\n", "submission_metadata.yml, submission_1, submitters: got 'ada', wanted"),
        (
            "submission_1:\n  :submitters:\n  - :name: A\n  :created_at: soon\n",
            "submission_metadata.yml, submission_1, created_at: got 'soon', wanted a date with a time",
        ),
        (
            "submission_1:\n  :submitters:\n  - :name: A\n  :created_at: 2026-13-41 09:30:00 Z\n",
            "submission_metadata.yml is damaged: month must be in 1..12",
        ),
        (
            "submission_1:\n  :submitters:\n  - :name: !!python/object/apply:os.system ['true']\n",
            "submission_metadata.yml is damaged near submission submission_1: could not determine a constructor",
        ),
    ],
)
def test_gradescope_damaged_metadata_are_explained(metadata, said):
    """Where, what, and what to do; nothing in it is ever run."""
    text = refusal(metadata)

    assert text.startswith(said)
    assert text.endswith("export the submissions again, or remove the file to grade without names and times")


def test_gradescope_metadata_that_are_cut_off_in_a_name_are_refused(tmp_path):
    """Half a file is no reason to grade half a class without names."""
    cut = (ADA + GROUP)[: -len(GROUP) + 60]

    with pytest.raises(LayoutError, match="is damaged near submission submission_12"):
        Class(as_zip(tmp_path / "export.zip", export(cut, 11, 12)))


def test_gradescope_results_of_megabytes_are_passed_by():
    """What students printed is not parsed, however much it is."""
    printed = "".join(f"        &a{n} *a{n} [[[ {{{{ : \t- :name: x\n" for n in range(20_000))
    metadata = "".join(
        ADA.replace("submission_11", f"submission_{n}").replace("          :submitters:\n", printed) for n in range(3)
    )

    assert ["submission_0", "submission_1", "submission_2"] == sorted(read_metadata(metadata, "x"))
