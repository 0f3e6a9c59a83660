"""Which notebook of a submission stands for which stub, by names and by what there is besides."""

import hashlib
import shutil

import pytest
from conftest import write_files
from sample_course import write_course
from sample_notebook import jupyter

from grader.find import Found
from grader.intake.tree import IS_LINK
from grader.stage import stage

MIX = "def mix():\n    return 1\n\ndef gate():\n    return 1"
SCALE = "class Scale:\n    pass"
WHOLE = jupyter(MIX, SCALE)


@pytest.fixture
def submission(tmp_path):
    """An empty submission's folder."""
    return write_files(tmp_path / "ann", {})


@pytest.fixture
def staged(tmp_path, submission):
    """Stages files for the tiny assignment (mix.py and scale.py)."""
    assignment = write_course(tmp_path / "course").assignment("tiny")

    def read(files, path=submission, **marks):
        write_files(submission, files)
        return stage(Found(id="ann", path=path, **marks), assignment)

    return read


def made_of(result):
    """By stub, the notebook it was made of."""
    notes = [note.split(" was made of ") for note in result.notes if " was made of " in note]
    return {stub: rest.split(", cells counted")[0] for stub, rest in notes}


def test_notebooks_one_of_any_name_gives_all_stubs(staged):
    """It is hashed as it was handed in, so that any change is noticed."""
    result = staged({"My Homework.ipynb": WHOLE})

    assert {"mix.py": "My Homework.ipynb", "scale.py": "My Homework.ipynb"} == made_of(result)
    assert ["mix.py", "scale.py"] == list(result.sources.texts)
    assert [("My Homework.ipynb", hashlib.sha256(WHOLE).hexdigest())] == [
        (file.name, file.sha256) for file in result.files
    ]


def test_notebooks_called_like_stubs_give_those(staged):
    """With the spellings and marks of copies that files may have; of copies the best."""
    result = staged({"Mix-1.ipynb": jupyter(MIX), "mix-2.ipynb": jupyter(MIX), "Copy of scale.ipynb": jupyter(SCALE)})

    assert {"mix.py": "mix-2.ipynb", "scale.py": "Copy of scale.ipynb"} == made_of(result)
    assert "Mix-1.ipynb was not read" in result.notes


def test_notebooks_another_one_gives_what_no_name_says(staged):
    """One called like a stub, and one for the rest."""
    result = staged({"mix.ipynb": jupyter(MIX), "rest.ipynb": WHOLE})

    assert {"mix.py": "mix.ipynb", "scale.py": "rest.ipynb"} == made_of(result)


def test_notebooks_single_one_that_is_called_like_a_stub_gives_all(staged):
    """When there is no other."""
    assert {"mix.py": "mix.ipynb", "scale.py": "mix.ipynb"} == made_of(staged({"mix.ipynb": WHOLE}))


def test_notebooks_one_for_a_stub_and_none_for_another_leaves_that_missing(staged):
    """It is said what was looked for."""
    result = staged({"mix.ipynb": jupyter(MIX)})

    assert ["mix.py"] == list(result.sources.texts)
    assert {"scale.py": "no cell of mix.ipynb defines Scale"} == result.sources.unreadable


def test_notebooks_copies_of_one_are_no_riddle(staged):
    """As with Python files, the plain name comes first."""
    result = staged({"hw.ipynb": WHOLE, "hw-Copy1.ipynb": b"", "hw (2).ipynb": b""})

    assert {"mix.py": "hw.ipynb", "scale.py": "hw.ipynb"} == made_of(result)


def test_notebooks_several_without_clear_names_are_explained(staged):
    """And each of them is hashed: a change to any may settle it."""
    result = staged({"a.ipynb": WHOLE, "b.ipynb": WHOLE})

    reason = "there are several notebooks (a.ipynb, b.ipynb); hand in a single one, or call them mix.ipynb, scale.ipynb"
    assert {"mix.py": reason, "scale.py": reason} == result.sources.unreadable
    assert result.is_empty
    assert ["a.ipynb", "b.ipynb"] == [file.name for file in result.files]


def test_notebooks_python_files_come_first(staged):
    """The notebook is noted as not read, whatever is in it."""
    result = staged({"mix.py": "a = 1", "scale.py": "b = 1", "hw.ipynb": WHOLE})

    assert {"mix.py": "a = 1", "scale.py": "b = 1"} == result.sources.texts
    assert ("hw.ipynb was not read: mix.py, scale.py are Python files, which come first",) == result.notes
    assert ["mix.py", "scale.py"] == [file.name for file in result.files]


def test_notebooks_give_what_python_files_do_not(staged):
    """Stub by stub."""
    result = staged({"mix.py": "a = 1", "hw.ipynb": WHOLE})

    assert {"scale.py": "hw.ipynb"} == made_of(result)
    assert "a = 1" == result.sources.texts["mix.py"]


def test_notebooks_cells_may_import_files_beside_them(staged):
    """A student's own module."""
    result = staged({"work/hw.ipynb": WHOLE, "work/near.py": "c = 1"})

    assert {"mix.py", "scale.py", "near.py"} == set(result.sources.texts)


def test_notebooks_of_several_folders_are_not_mixed(staged):
    """As attempts are not; what Jupyter keeps for itself is no attempt."""
    result = staged({"one/hw.ipynb": WHOLE, "two/hw.ipynb": WHOLE, ".ipynb_checkpoints/hw.ipynb": WHOLE})

    assert {"several folders hold such a file (one, two); leave one"} == set(result.sources.unreadable.values())
    assert ["one/hw.ipynb", "two/hw.ipynb"] == [file.name for file in result.files]


def test_notebooks_one_that_cannot_be_taken_says_why(staged, submission):
    """It is there, so it is not called missing."""
    (submission / "hw.ipynb").symlink_to("/etc/hostname")

    reason = f"hw.ipynb{IS_LINK.removeprefix('it')}"
    assert {"mix.py": reason, "scale.py": reason} == staged({}).sources.unreadable


def test_notebooks_that_are_too_large_together_are_left(staged):
    """The Python files are read all the same."""
    result = staged({"mix.py": "a = 1", "a.ipynb": b" " * 11 * 2**20, "b.ipynb": b" " * 11 * 2**20})

    assert "a = 1" == result.sources.texts["mix.py"]


def test_notebooks_in_an_archive_are_staged_as_in_a_folder(staged, submission, tmp_path):
    """The same texts, notes and digest; and so is a notebook that is handed in alone, but for its folder."""
    unpacked = staged({"hw.ipynb": WHOLE})
    shutil.make_archive(str(tmp_path / "packed"), "zip", submission)

    assert unpacked == staged({}, tmp_path / "packed.zip", is_archive=True)
    assert unpacked == staged({}, submission / "hw.ipynb", is_notebook=True)


def test_notebooks_digest_changes_with_an_output(staged):
    """`--resume` goes by the bytes."""
    first = staged({"hw.ipynb": WHOLE}).digest

    assert first != staged({"hw.ipynb": WHOLE + b"\n"}).digest
