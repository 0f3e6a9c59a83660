"""Where the submissions are, and which file stands for which stub."""

import os
from pathlib import Path

import pytest

from grader.find import FindError, file_names, find_submissions, match_stub, neighbours, unread_archives

FILES = ["mix.py", "scale_up.py"]


def write(folder, *names):
    """Empty files below a folder, whose folders are made."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def ids(folder, **options):
    """Ids of the submissions found."""
    return [found.id for found in find_submissions(folder, FILES, **options)]


def refusal(folder, **options):
    """What the user is told."""
    with pytest.raises(FindError) as refused:
        find_submissions(folder, FILES, **options)
    return str(refused.value)


def matched(folder, name="scale_up.py"):
    """The file that stands for a stub, from the submission's folder, and whether it is the stub's own place."""
    match = match_stub(folder, name)
    return match and (match.path.relative_to(folder).as_posix(), match.is_exact)


# --- submissions ------------------------------------------------------------------------------------------------


def test_find_each_folder_is_a_submission_in_order_of_name(tmp_path):
    """Also one that holds no homework: it is graded as such, not dropped."""
    write(tmp_path, "bob/mix.py", "ann/mix.py", "cleo/notes.txt")

    assert ["ann", "bob", "cleo"] == ids(tmp_path)


def test_find_folder_with_stub_files_is_one_submission(tmp_path):
    """A student's own folder, whatever folders lie in it."""
    write(tmp_path, "ann/mix.py", "ann/old/mix.py")

    found = find_submissions(tmp_path / "ann", FILES)

    assert [("ann", tmp_path / "ann")] == [(one.id, one.folder) for one in found]


def test_find_folder_with_a_misspelt_stub_file_is_one_submission(tmp_path):
    """Accepted spellings count here too."""
    write(tmp_path, "ann/Scale-Up (2).py", "ann/tests/x.py")

    assert ["ann"] == ids(tmp_path / "ann")


def test_find_current_folder_gives_its_real_name(tmp_path, monkeypatch):
    """`grade .` has an id that can be shown."""
    write(tmp_path, "ann/mix.py")
    monkeypatch.chdir(tmp_path / "ann")

    assert ["ann"] == ids(Path("."))


def test_find_leftovers_of_tools_are_no_submissions(tmp_path):
    """Hidden folders, caches, and what archives of a Mac bring along; files beside them neither."""
    write(tmp_path, "ann/mix.py", ".git/x", "__pycache__/x", "__MACOSX/x", "node_modules/x", "venv/x", "grades.csv")

    assert ["ann"] == ids(tmp_path)


def test_find_linked_folder_is_found_and_marked(tmp_path):
    """A linked folder could be anyone's: it is not followed, and its student is not forgotten."""
    write(tmp_path, "all/ann/mix.py", "elsewhere/mix.py")
    (tmp_path / "all" / "zed").symlink_to(tmp_path / "elsewhere")

    found = find_submissions(tmp_path / "all", FILES)

    assert [("ann", False), ("zed", True)] == [(one.id, one.is_link) for one in found]


def test_find_names_that_are_shown_alike_get_ids_of_their_own(tmp_path):
    """A byte that cannot be shown, and the same spelt out by a joker."""
    write(tmp_path, "a\\xff/mix.py")
    os.makedirs(os.fsencode(tmp_path) + b"/a\xff")

    assert ["a\\xff", "a\\xff (2)"] == ids(tmp_path)


def test_find_single_folder_that_holds_the_submissions_is_entered(tmp_path):
    """An archive of a class unpacks to one folder more."""
    write(tmp_path, "export/ann/mix.py", "export/bob/mix.py")

    assert ["ann", "bob"] == ids(tmp_path)


def test_find_single_submission_in_a_nested_folder_is_not_taken_apart(tmp_path):
    """One student whose files lie one folder deeper stays one student."""
    write(tmp_path, "ann/homework/mix.py")

    assert ["ann"] == ids(tmp_path)


def test_find_only_keeps_what_matches(tmp_path):
    """A glob over ids, capitals as they are."""
    write(tmp_path, "ann/mix.py", "anton/mix.py", "Anna/mix.py", "bob/mix.py")

    assert ["ann", "anton"] == ids(tmp_path, only="an*")


def test_find_name_that_is_no_utf8_is_spelt_out(tmp_path):
    """A report is UTF-8, so an id is too."""
    os.mkdir(os.fsencode(tmp_path) + b"/ann\xff")

    assert ["ann\\xff"] == ids(tmp_path)


def test_find_missing_folder_offers_a_near_one(tmp_path):
    """A misspelt folder."""
    write(tmp_path, "submissions/ann/mix.py")

    assert (
        f"{tmp_path / 'submisions'} does not exist; did you mean {tmp_path / 'submissions'}?"
    ) == refusal(tmp_path / "submisions")  # fmt: skip


def test_find_missing_folder_without_a_near_one_says_from_where(tmp_path):
    """Often the current folder is the wrong one."""
    assert f"{tmp_path / 'a' / 'b'} does not exist (looked from {Path.cwd()})" == refusal(tmp_path / "a" / "b")


def test_find_file_is_no_folder(tmp_path):
    """A file says what is wanted."""
    write(tmp_path, "mix.py")

    assert (
        f"{tmp_path / 'mix.py'} is a file; wanted the folder that holds the submissions"
    ) == refusal(tmp_path / "mix.py")  # fmt: skip


def test_find_empty_folder_says_what_is_wanted(tmp_path):
    """How a folder of submissions looks."""
    assert (
        f"{tmp_path} holds no submission: wanted one folder per student, with mix.py, scale_up.py"
    ) == refusal(tmp_path)  # fmt: skip


def test_find_only_without_a_match_offers_near_ones(tmp_path):
    """A misspelt student."""
    write(tmp_path, "ann/mix.py", "bob/mix.py")

    assert f"no submission in {tmp_path} matches 'anne'; near: ann" == refusal(tmp_path, only="anne")
    assert f"no submission in {tmp_path} matches 'zzzz'" == refusal(tmp_path, only="zzzz")


# --- stub files -------------------------------------------------------------------------------------------------


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
def test_find_other_spellings_and_places_stand_for_a_stub(tmp_path, name):
    """Found, and known not to be the stub's own name or place."""
    write(tmp_path, name)

    assert (name, False) == matched(tmp_path)


@pytest.mark.parametrize(
    "name", ["scale.py", "my_scale_up.py", "scale_up.txt", "scale_up.py.bak", "a/b/c/d/scale_up.py", ".x/scale_up.py"]
)
def test_find_other_files_stand_for_no_stub(tmp_path, name):
    """Not everything near is meant."""
    write(tmp_path, name)

    assert matched(tmp_path) is None


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
def test_find_of_several_candidates_one_is_chosen(tmp_path, names, best):
    """The stub's own name first; then what is nearer the top; then the last copy."""
    write(tmp_path, *names)

    assert (best, best == "scale_up.py") == matched(tmp_path)


def test_find_stub_that_is_a_link_or_no_file_is_not_taken(tmp_path):
    """A link could read anything; a folder or a pipe reads nothing."""
    (tmp_path / "scale_up.py").symlink_to("/etc/hostname")
    (tmp_path / "mix.py").mkdir()
    os.mkfifo(tmp_path / "Mix.py")

    assert (None, None) == (matched(tmp_path), matched(tmp_path, "mix.py"))


def test_find_submission_with_thousands_of_files_ends(tmp_path):
    """A folder that is no homework is given up, not searched through."""
    write(tmp_path, "unseen/mix.py", *[f"many/{number}.txt" for number in range(2000)])

    assert matched(tmp_path, "mix.py") is None


def test_find_file_names_are_those_of_all_python_files(tmp_path):
    """What tells which assignment is answered."""
    write(tmp_path, "ann/mix.py", "ann/sub/Scale_Up.PY", "ann/notes.txt", "bob/mix.py")

    assert ["Scale_Up.PY", "mix.py", "mix.py"] == sorted(file_names(find_submissions(tmp_path, FILES)))


def test_find_neighbours_are_python_files_at_the_top(tmp_path):
    """What a stub may import."""
    write(tmp_path, "mix.py", "extra.py", ".hidden.py", "notes.txt", "sub/deep.py")

    assert ["extra.py", "mix.py"] == [path.name for path in neighbours(tmp_path)]


def test_find_stub_files_beside_students_folders_are_refused(tmp_path):
    """A class with a solution left in its folder is not one submission."""
    write(tmp_path, "mix.py", "ann/mix.py", "bob/mix.py")

    assert "is it one submission or a class?" in refusal(tmp_path)


def test_find_archives_are_named(tmp_path):
    """Homework that nobody has unpacked must not be missed."""
    write(tmp_path, "ann/mix.py", "bob.zip", "cyd.tar.gz", "grades.csv")

    assert ["bob.zip", "cyd.tar.gz"] == unread_archives(tmp_path)
