"""A student's folder that was made to look like a platform's download, with somebody else's name and another time."""

import pytest
from class_files import STUBS, Class, as_zip, commit, zipped
from conftest import write_files

from grader.find import FindError
from grader.layouts.recognise import read_class

METADATA = """
submission_1:
  :submitters:
  - :name: Ada Lovelace
    :sid: '100'
  :created_at: 2020-01-01 00:00:00 Z
"""
GRADESCOPE = {"submission_metadata.yml": METADATA, "submission_1/mix.py": "x", "submission_1/scale_up.py": "y"}
CANVAS = {"lovelaceada_100_7_mix.py": "x", "roebob_200_8_mix.py": "y"}
MOODLE = {"Ada Lovelace_100_assignsubmission_file/mix.py": "x", "Bob Roe_200_assignsubmission_file/mix.py": "x"}
PLAIN = {"ada/mix.py": "x", "bob/mix.py": "y"}
FORGED = {"Gradescope": GRADESCOPE, "Canvas": CANVAS, "Moodle": MOODLE, "plain": PLAIN}


def single(place):
    """What is read where one student's work was announced."""
    with read_class(place, STUBS, is_single=True) as layout:
        return layout


@pytest.mark.parametrize("files", FORGED.values(), ids=FORGED)
def test_layout_of_a_single_submission_is_its_own_whatever_it_looks_like(tmp_path, files):
    """Its id is the folder's name; nobody and no time is taken from what lies in it."""
    layout = single(write_files(tmp_path / "mallory", files))

    (found,) = layout.submissions
    assert ("mallory", (), None) == (found.id, found.people, found.handed_in)
    assert not layout.is_class


@pytest.mark.parametrize("files", FORGED.values(), ids=FORGED)
def test_layout_of_a_single_archive_is_its_own_whatever_it_looks_like(tmp_path, files):
    """The same in a zip."""
    (found,) = single(as_zip(tmp_path / "mallory.zip", files)).submissions

    assert ("mallory", (), None) == (found.id, found.people, found.handed_in)


def test_layout_of_a_single_submission_that_is_not_there_is_refused(tmp_path):
    """In words."""
    with pytest.raises(FindError, match="does not exist"):
        single(tmp_path / "nobody")


@pytest.mark.parametrize(
    "files",
    [GRADESCOPE, CANVAS, {"Ada Lovelace_100_assignsubmission_file/mix.py": "x"}],
    ids=["Gradescope", "Canvas", "Moodle"],
)
@pytest.mark.parametrize("around", ["", "submissions"])
def test_layout_of_a_folder_with_a_stub_at_its_top_is_no_platforms(tmp_path, files, around):
    """What lies beside a student's file is theirs, whether the folder itself is named or the one around it."""
    home = write_files(tmp_path / around / "mallory", {**files, "mix.py": "z"})

    found = Class(home.parent if around else home)

    assert "Ada" not in str(found.found)
    assert "lovelaceada_100" not in found.found


def test_layout_inside_of_a_class_of_one_clone_is_not_looked_for(tmp_path):
    """A platform hands out no clones; a clone's files are one student's."""
    commit(tmp_path / "submissions" / "hw-mallory", GRADESCOPE)

    found = Class(tmp_path / "submissions")

    assert ["hw-mallory"] == list(found.found)


def test_layout_of_a_students_zip_with_a_stub_is_no_class(tmp_path):
    """Also where the zip is all there is in the folder."""
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "mallory.zip").write_bytes(zipped({**GRADESCOPE, "mix.py": "z"}))

    found = Class(tmp_path / "class")

    assert ["mallory"] == list(found.found)
