"""What lies apart becomes one tree."""

import pytest
from class_files import zipped
from conftest import write_files

from grader.find import Found, Piece
from grader.intake import file_names, read_tree
from grader.intake.pieces import MOST_ARCHIVES


@pytest.fixture
def read(tmp_path):
    """Reads pieces in the order of their names; a name that ends in `/` is a folder's."""

    def read(files, *order):
        write_files(tmp_path, files)
        pieces = tuple(
            Piece(path=tmp_path / name, name=name.rstrip("/"), is_folder=name.endswith("/")) for name in order
        )
        return read_tree(Found(id="ada", path=tmp_path, pieces=pieces))

    return read


def test_pieces_nothing_is_nothing_though_files_lie_there(read):
    """A submission without a file of its own does not take those of others."""
    tree = read({"mix.py": "somebody else's"})

    assert ({}, "") == (dict(tree.files), tree.problem)


def test_pieces_of_every_kind_are_put_together(read):
    """Files, a folder, and an archive without the folder around everything in it."""
    tree = read(
        {"mix.py": "1", "sub/deep/x.py": "2", "hw.zip": zipped({"a/b/scale_up.py": "3", "a/b/c/y.py": "4"})},
        "mix.py",
        "sub/",
        "hw.zip",
    )

    assert {"mix.py": b"1", "sub/deep/x.py": b"2", "scale_up.py": b"3", "c/y.py": b"4"} == dict(tree.files)


def test_pieces_archive_with_something_at_its_top_keeps_its_folders(read):
    """Only what is around everything is left out."""
    tree = read({"hw.zip": zipped({"mix.py": "1", "old/mix.py": "2"})}, "hw.zip")

    assert {"mix.py", "old/mix.py"} == set(tree.files)


def test_pieces_link_is_not_followed(read, tmp_path):
    """What lies in a student's folder may be anything."""
    (tmp_path / "mix.py").symlink_to("/etc/passwd")

    tree = read({}, "mix.py")

    assert {} == dict(tree.files)
    assert tree.refused["mix.py"].startswith("it is a symbolic link")


def test_pieces_damaged_archive_is_the_reason_for_nothing(read):
    """With a digest, so that another one in its place is noticed; beside files it is a note."""
    alone = read({"hw.zip": b"PK"}, "hw.zip")
    another = read({"hw.zip": b"PK."}, "hw.zip")
    beside = read({"mix.py": "1"}, "mix.py", "hw.zip")

    assert alone.problem.startswith("the archive is damaged")
    assert alone.sha256 and alone.sha256 != another.sha256
    assert ("", {"mix.py": b"1"}) == (beside.problem, dict(beside.files))
    assert beside.notes[0].startswith("hw.zip was not read: the archive is damaged")


def test_pieces_too_many_archives_are_cut_short(read):
    """Each costs a process; it is said, and is the reason when nothing was found."""
    names = [f"hw{number}.zip" for number in range(MOST_ARCHIVES + 1)]

    tree = read(dict.fromkeys(names, b""), *names)

    assert f"{names[-1]} was not read: more than 10 archives were handed in; hand in one" in tree.notes


def test_pieces_tell_which_assignment_they_answer(tmp_path):
    """Names of files, of folders and of archives alike."""
    write_files(tmp_path, {"a.py": "", "sub/b.py": "", "hw.zip": zipped({"x/c.py": ""}), "rest.py": ""})
    pieces = [("a.py", False), ("sub", True), ("hw.zip", False)]
    found = Found(
        id="ada",
        path=tmp_path,
        pieces=tuple(Piece(path=tmp_path / name, name=name, is_folder=is_folder) for name, is_folder in pieces),
    )

    assert {"a.py", "b.py", "c.py"} == {name for name in file_names([found]) if name.endswith(".py")}


def test_pieces_first_of_one_name_counts_and_the_others_are_told(read):
    """In another spelling of its accents, too; two folders of one archive are no such thing."""
    tree = read(
        {"a.zip": zipped({"a/mi\u0308x.py": "new"}), "b.zip": zipped({"b/m\u00efx.py": "old", "b/y.py": "3"})},
        "a.zip",
        "b.zip",
    )

    assert {"m\u00efx.py": b"new", "y.py": b"3"} == dict(tree.files)
    assert ("b.zip/b/m\u00efx.py was not read: of two, the one handed in as a.zip counts",) == tree.notes
