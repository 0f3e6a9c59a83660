"""Which file stands for which stub, by names alone."""

import pytest

from grader.names import (
    archive_id,
    are_copies,
    folded,
    homes,
    is_archive,
    is_noise,
    match_stub,
    neighbours,
    notebook_of,
    stands_for,
)


def matched(*names):
    """The name that stands for a stub, and whether it is the stub's own name and place."""
    match = match_stub(names, "scale_up.py")
    return match and (match.name, match.is_exact)


@pytest.mark.parametrize(
    "name",
    [
        "Scale_Up.py",
        "SCALE_UP.PY",
        "scaleup.py",
        "scale-up.py",
        "scale up.py",
        "scale_up-1.py",
        "scale_up (2).py",
        "scale_up(2).py",
        "scale_up_copy.py",
        "scale_up-Copy.py",
        "sub/folder/deep/scale_up.py",
    ],
)
def test_names_other_spellings_and_places_stand_for_a_stub(name):
    """Found, and known not to be the stub's own name or place."""
    assert (name, False) == matched(name)


@pytest.mark.parametrize("name", ["scale.py", "my_scale_up.py", "scale_up.txt", "scale_up.py.bak", "scale_up.py/x"])
def test_names_other_files_stand_for_no_stub(name):
    """Not everything near is meant."""
    assert matched(name) is None


@pytest.mark.parametrize(
    ("names", "best"),
    [
        (["scale_up.py", "scale_up-1.py", "sub/scale_up.py"], "scale_up.py"),
        (["scale_up-1.py", "scale_up-2.py", "scale_up-10.py"], "scale_up-10.py"),
        (["Scale_Up.py", "sub/scale_up.py"], "Scale_Up.py"),
        (["Scale_Up.py", "scale_up (1).py"], "scale_up (1).py"),
        (["b/scale_up.py", "a/Scale_Up.py"], "b/scale_up.py"),
    ],
)
def test_names_of_several_candidates_one_is_chosen(names, best):
    """The stub's own name first; then what is nearer the top; then the last copy."""
    assert (best, best == "scale_up.py") == matched(*names)
    assert (best, best == "scale_up.py") == matched(*reversed(names))


def test_names_others_that_might_have_been_meant_are_known():
    """Nobody has to wonder about them."""
    match = match_stub(["old/mix.py", "mix.py", "mix (1).py", "other.py"], "mix.py")

    assert ("mix (1).py", "old/mix.py") == match.others


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["mix.py", "old/mix.py"], [""]),
        (["work/mix.py", "work/scale_up.py", "docs/notes.py"], ["work"]),
        (["second/mix.py", "first/Scale-Up.py"], ["first", "second"]),
        (["notes.py"], []),
    ],
)
def test_names_homes_are_the_folders_of_stubs(names, expected):
    """The top alone when a stub lies there; else each folder is an attempt."""
    assert expected == homes(names, ["mix.py", "scale_up.py"])


def test_names_neighbours_are_python_files_of_one_folder():
    """What a stub beside them may import; capitals in the suffix make it no module."""
    names = ["mix.py", "extra.py", "Shout.PY", "notes.txt", "sub/deep.py"]

    assert (["extra.py", "mix.py"], ["sub/deep.py"]) == (neighbours(names, ""), neighbours(names, "sub"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ann.zip", "ann"),
        ("ann.tar.gz", "ann"),
        ("Ann v2.TGZ", "Ann v2"),
        ("ann.tar", "ann"),
        ("ann.7z", None),
        ("ann.tar.bz2", None),
        ("ann.gz", None),
        (".zip", None),
        ("zip", None),
    ],
)
def test_names_archive_has_the_id_before_its_suffix(name, expected):
    """Those that are read; others have none."""
    assert expected == archive_id(name)


@pytest.mark.parametrize(("name", "expected"), [("a.zip", True), ("a.RAR", True), ("a.tar.xz", True), ("a.py", False)])
def test_names_archives_are_known_readable_or_not(name, expected):
    """Homework that is packed must not be missed."""
    assert expected == is_archive(name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [(".git", True), ("._mix.py", True), (".DS_Store", True), ("__MACOSX", True), ("venv", True), ("work", False)],
)
def test_names_leftovers_are_told_from_homework(name, expected):
    """What systems and tools leave behind."""
    assert expected == is_noise(name)


@pytest.mark.parametrize(
    ("one", "other"), [("Mix.py", "mix.PY"), ("caf\u00e9.py", "cafe\u0301.py"), ("stra\u00dfe.py", "STRASSE.py")]
)
def test_names_that_some_disks_hold_for_one_fold_alike(one, other):
    """Capitals, and accents written in one sign or two."""
    assert folded(one) == folded(other)


@pytest.mark.parametrize(
    "name", ["mix.ipynb", "Mix.IPYNB", "mix-1.ipynb", "mix-Copy1.ipynb", "mix copy 2.ipynb", "Copy of mix.ipynb"]
)
def test_names_notebooks_stand_for_a_stub_as_files_do(name):
    """Under the stub's own name with their suffix, whatever Jupyter, Colab and editors add."""
    assert (True, False) == (stands_for(name, notebook_of("mix.py")), stands_for(name, "mix.py"))


def test_names_copies_are_told_from_other_files():
    """By what is left without their marks."""
    assert are_copies(["hw.ipynb", "a/HW-2.ipynb", "Copy of hw (1).ipynb"])
    assert not are_copies(["hw.ipynb", "hw2.ipynb"])
