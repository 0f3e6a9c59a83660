"""Reading a submission once: the bytes that are hashed are the bytes that run."""

import hashlib
import os
import shutil

import pytest
from conftest import write_files
from sample_course import write_course

from grader.find import Found
from grader.intake.tree import IS_LINK, IS_SPECIAL, MOST_BYTES, MOST_ENTRIES
from grader.stage import MOST_FILES, stage


@pytest.fixture
def submission(tmp_path):
    """An empty submission's folder."""
    folder = tmp_path / "ann"
    folder.mkdir()
    return folder


@pytest.fixture
def staged(tmp_path, submission):
    """Stages the submission for the tiny assignment (mix.py and scale.py)."""
    assignment = write_course(tmp_path / "course").assignment("tiny")
    return lambda path=submission, **marks: stage(Found(id="ann", path=path, **marks), assignment)


def test_stage_file_is_hashed_as_it_was_handed_in(submission, staged):
    """The hash is over the bytes, the text is what runs."""
    (submission / "mix.py").write_bytes(b"\xef\xbb\xbfx = 1\r\n")

    result = staged()

    assert {"mix.py": "x = 1\r\n"} == result.sources.texts
    assert [("mix.py", hashlib.sha256(b"\xef\xbb\xbfx = 1\r\n").hexdigest())] == [
        (file.name, file.sha256) for file in result.files
    ]
    assert () == result.notes


def test_stage_misspelt_and_nested_files_are_read_under_the_stubs_name(submission, staged):
    """Accepted, and said."""
    (submission / "Mix-1.py").write_text("a = 1")
    (submission / "work").mkdir()
    (submission / "work" / "scale.py").write_text("b = 1")

    result = staged()

    assert {"mix.py": "a = 1", "scale.py": "b = 1"} == result.sources.texts
    assert ("Mix-1.py was read as mix.py", "work/scale.py was read as scale.py") == result.notes


def test_stage_neighbours_beside_stubs_are_read(submission, staged):
    """A file of the student's own that a stub may import, at the top or beside a nested stub."""
    (submission / "extra.py").write_text("c = 1")
    (submission / "work").mkdir()
    (submission / "work" / "mix.py").write_text("import near")
    (submission / "work" / "near.py").write_text("d = 1")

    assert {"mix.py", "extra.py", "near.py"} == set(staged().sources.texts)


def test_stage_file_that_stands_for_a_stub_is_not_read_twice(submission, staged):
    """A misspelt stub is no neighbour as well, and what no import can name is none."""
    (submission / "Mix.py").write_text("a = 1")
    (submission / "my notes.py").write_text("b = 1")

    assert ["mix.py"] == list(staged().sources.texts)


def test_stage_other_file_of_a_stubs_name_does_not_replace_it(submission, staged):
    """Two files that would be imported by one name: the stub's wins."""
    (submission / "mix.py").write_text("top")
    (submission / "work").mkdir()
    (submission / "work" / "mix.py").write_text("nested")
    (submission / "work" / "scale.py").write_text("b")

    assert "top" == staged().sources.texts["mix.py"]


def test_stage_many_neighbours_are_cut(submission, staged):
    """A folder of a thousand files is no homework."""
    (submission / "mix.py").touch()
    for number in range(MOST_FILES + 5):
        (submission / f"extra_{number}.py").touch()

    assert MOST_FILES == len(staged().sources.texts)


def test_stage_file_that_is_no_utf8_says_where_and_what_to_do(submission, staged):
    """Byte, line and column; its hash is still known, so that a change is noticed."""
    (submission / "mix.py").write_bytes(b"# ok\nname = '\xe9'\n")
    (submission / "scale.py").touch()

    result = staged()

    assert {
        "mix.py": "it is not UTF-8: byte 0xe9 at line 2, column 9; save the file as UTF-8"
    } == result.sources.unreadable
    assert ["mix.py", "scale.py"] == [file.name for file in result.files]


def test_stage_file_that_is_too_large_is_not_read(submission, staged):
    """The limit itself is allowed."""
    (submission / "mix.py").write_bytes(b"#" * (MOST_BYTES + 1))
    (submission / "scale.py").write_bytes(b"#" * MOST_BYTES)

    result = staged()

    assert {"mix.py": "it is larger than 1024 KiB"} == result.sources.unreadable
    assert ["scale.py"] == list(result.sources.texts)


def test_stage_stub_that_cannot_be_taken_is_unreadable_with_the_reason(submission, staged):
    """It is there, so it is not called missing; what it leads to is not read."""
    (submission / "mix.py").symlink_to("/etc/hostname")
    (submission / "scale.py").touch()

    result = staged()

    assert ["scale.py"] == list(result.sources.texts)
    assert {"mix.py": IS_LINK} == result.sources.unreadable
    assert ["scale.py"] == [file.name for file in result.files]


def test_stage_better_name_that_cannot_be_taken_is_not_passed_over(submission, staged):
    """An old copy is not graded in place of the file that was meant."""
    os.mkfifo(submission / "mix.py")
    (submission / "mix (1).py").touch()

    result = staged()

    assert {"mix.py": IS_SPECIAL} == result.sources.unreadable
    assert ("mix (1).py was not read",) == result.notes


def test_stage_misspelt_file_that_cannot_be_taken_is_named(submission, staged):
    """The reason is about a file of another name."""
    os.mkfifo(submission / "Mix.py")

    result = staged()

    assert ({"mix.py": IS_SPECIAL}, ("Mix.py was taken for mix.py",)) == (result.sources.unreadable, result.notes)


def test_stage_neighbour_that_cannot_be_read_is_noted(submission, staged):
    """Otherwise its student would see no more than an import that fails."""
    (submission / "mix.py").touch()
    (submission / "extra.py").symlink_to("mix.py")
    (submission / "latin.py").write_bytes(b"\xe9")
    (submission / "conftest.py").touch()

    result = staged()

    assert ["mix.py"] == list(result.sources.texts)
    assert (
        "conftest.py was not read: a file of this name gives instructions to tools, and is never run here",
        f"extra.py was not read: {IS_LINK}",
        "latin.py was not read: it is not UTF-8: byte 0xe9 at line 1, column 1; save the file as UTF-8",
    ) == result.notes


def test_stage_thousand_notes_are_cut(submission, staged):
    """A report is for reading."""
    (submission / "mix.py").touch()
    for number in range(1000):
        (submission / f"mix-{number}.py").touch()

    notes = staged().notes

    assert (21, "and 980 more of this kind") == (len(notes), notes[-1])


def test_stage_submission_without_a_readable_stub_is_empty(submission, staged):
    """Neighbours alone are nothing to grade; what they were is still known."""
    (submission / "mix.py").write_bytes(b"\xff")
    (submission / "extra.py").touch()

    result = staged()

    assert result.is_empty
    assert ["mix.py", "extra.py"] == [file.name for file in result.files]


def test_stage_submission_with_one_readable_stub_is_not_empty(submission, staged):
    """What is there is graded."""
    (submission / "scale.py").touch()

    assert not staged().is_empty


def test_stage_folder_that_is_gone_is_unreadable(submission, staged):
    """A folder that cannot be read is that submission's trouble, not the run's."""
    submission.rmdir()

    result = staged()

    assert result.is_empty
    assert {"the folder cannot be read: No such file or directory"} == set(result.sources.unreadable.values())


def test_stage_digest_tells_contents_and_names_apart(submission, staged):
    """What `--resume` looks at."""
    (submission / "mix.py").write_text("a = 1")
    first = staged().digest
    (submission / "mix.py").write_text("a = 2")
    second = staged().digest
    (submission / "mix.py").rename(submission / "scale.py")

    assert 3 == len({first, second, staged().digest})


def test_stage_linked_folder_is_not_read(submission, staged, tmp_path):
    """It is told, and nothing of what it leads to is taken."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mix.py").touch()
    submission.rmdir()
    submission.symlink_to(tmp_path / "elsewhere")

    result = staged()

    assert result.is_empty
    reason = "the folder is a symbolic link, which is not followed; hand in what it leads to"
    assert {reason} == set(result.sources.unreadable.values())


def test_stage_several_attempts_are_not_mixed(submission, staged):
    """Files of two attempts are no program; which one counts is for a person to say. A change to one is noticed."""
    for attempt in ("attempt1", "attempt2"):
        (submission / attempt).mkdir()
        (submission / attempt / "mix.py").touch()

    result = staged()

    assert result.is_empty
    reason = "several folders hold such a file (attempt1, attempt2); leave one"
    assert {reason} == set(result.sources.unreadable.values())
    assert ["attempt1/mix.py", "attempt2/mix.py"] == [file.name for file in result.files]


def test_stage_copy_that_was_not_chosen_is_noted(submission, staged):
    """The stub's own name counts, and nobody has to wonder about the other file."""
    (submission / "mix.py").write_text("a = 1")
    (submission / "mix (1).py").write_text("a = 2")

    result = staged()

    assert "a = 1" == result.sources.texts["mix.py"]
    assert ("mix (1).py was not read",) == result.notes


def test_stage_submission_that_was_not_looked_through_says_why_nothing_was_found(submission, staged):
    """Perhaps the stubs are where nobody looked."""
    for number in range(MOST_ENTRIES + 1):
        write_files(submission / "data", {f"{number}.txt": ""})

    result = staged()

    reason = "with the folder data it holds more than 2000 files and folders; hand in the Python files alone"
    assert ({reason}, result.is_empty) == (set(result.sources.unreadable.values()), True)


def test_stage_archive_is_staged_as_its_folder_would_be(submission, staged, tmp_path):
    """The same files give the same texts, notes and digest."""
    write_files(submission, {"work/Mix.py": "a = 1", "work/near.py": "b = 2", "work/notes.txt": "c"})
    shutil.make_archive(str(tmp_path / "packed"), "zip", submission)

    unpacked, packed = staged(), staged(tmp_path / "packed.zip", is_archive=True)

    assert unpacked == packed
    assert {"mix.py": "a = 1", "near.py": "b = 2"} == packed.sources.texts


def test_stage_archive_that_is_refused_is_known_by_its_own_digest(staged, tmp_path):
    """`--resume` grades again what was handed in anew, also when the first archive was broken."""
    packed = tmp_path / "ann.zip"
    packed.write_bytes(b"no archive")

    result = staged(packed, is_archive=True)

    assert [("ann.zip", hashlib.sha256(b"no archive").hexdigest())] == [
        (file.name, file.sha256) for file in result.files
    ]
    assert result.is_empty
    assert {"mix.py", "scale.py"} == set(result.sources.unreadable)
