"""Where the submissions are, among folders, archives, links and what else lies about."""

import os
from pathlib import Path

import pytest

from grader.find import FindError, find_submissions, unread_archives
from grader.record import clean_text

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


def test_find_each_folder_is_a_submission_in_order_of_name(tmp_path):
    """Also one that holds no homework: it is graded as such, not dropped."""
    write(tmp_path, "bob/mix.py", "ann/mix.py", "cleo/notes.txt")

    assert ["ann", "bob", "cleo"] == ids(tmp_path)


def test_find_folder_with_stub_files_is_one_submission(tmp_path):
    """A student's own folder, whatever folders lie in it."""
    write(tmp_path, "ann/mix.py", "ann/old/mix.py")

    found = find_submissions(tmp_path / "ann", FILES)

    assert [("ann", tmp_path / "ann")] == [(one.id, one.path) for one in found]


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


def test_find_linked_folder_is_found(tmp_path):
    """Whoever reads it refuses it, and its student is not forgotten; a link to a file is none."""
    write(tmp_path, "all/ann/mix.py", "elsewhere/mix.py")
    (tmp_path / "all" / "yan").symlink_to("yan")
    (tmp_path / "all" / "zed").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "all" / "handout").symlink_to(tmp_path / "elsewhere" / "mix.py")

    assert ["ann", "yan", "zed"] == ids(tmp_path / "all")


def test_find_folder_named_by_a_link_is_taken_where_it_leads(tmp_path):
    """The person who names it knows where it leads; a student's link is another matter."""
    write(tmp_path, "real/mix.py")
    (tmp_path / "link").symlink_to("real")

    assert [("real", tmp_path / "real")] == [(one.id, one.path) for one in find_submissions(tmp_path / "link", FILES)]


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
        f"{tmp_path} holds no submission: wanted one folder, archive or notebook per student, with mix.py, scale_up.py"
    ) == refusal(tmp_path)  # fmt: skip


def test_find_only_without_a_match_offers_near_ones(tmp_path):
    """A misspelt student."""
    write(tmp_path, "ann/mix.py", "bob/mix.py")

    assert f"no submission in {tmp_path} matches 'anne'; near: ann" == refusal(tmp_path, only="anne")
    assert f"no submission in {tmp_path} matches 'zzzz'" == refusal(tmp_path, only="zzzz")


def test_find_stub_files_beside_students_folders_are_refused(tmp_path):
    """A class with a solution left in its folder is not one submission."""
    write(tmp_path, "mix.py", "ann/mix.py", "bob/mix.py")

    assert "is it one submission or a class?" in refusal(tmp_path)


# --- archives ---------------------------------------------------------------------------------------------------


def test_find_archive_is_a_submission_named_without_its_suffix(tmp_path):
    """Beside folders, in order of name; a folder that is called like an archive stays a folder."""
    write(
        tmp_path, "bob/mix.py", "ann.zip", "cyd.tar.gz", "dan.TGZ", "eve.v2.tar", "fay.zip/mix.py", "grades.csv", ".zip"
    )

    found = find_submissions(tmp_path, FILES)

    assert [
        ("ann", True),
        ("bob", False),
        ("cyd", True),
        ("dan", True),
        ("eve.v2", True),
        ("fay.zip", False),
    ] == [(one.id, one.is_archive) for one in found]


def test_find_archive_and_folder_of_one_name_are_both_submissions(tmp_path):
    """Neither replaces the other, also where a folder is called as the other would be."""
    write(tmp_path, "ann/mix.py", "ann (2)/mix.py", "ann.zip", "ann.tar")

    found = {one.id: one.path.name for one in find_submissions(tmp_path, FILES)}

    assert {"ann": "ann", "ann (2)": "ann (2)", "ann (3)": "ann.tar", "ann (4)": "ann.zip"} == found


def test_find_archive_that_is_named_is_one_submission(tmp_path):
    """`grade one.zip`."""
    write(tmp_path, "ann.zip")

    found = find_submissions(tmp_path / "ann.zip", FILES)

    assert [("ann", tmp_path / "ann.zip", True)] == [(one.id, one.path, one.is_archive) for one in found]


def test_find_archive_that_is_not_read_says_which_are(tmp_path):
    """`grade one.7z` is no folder and no archive that is read."""
    write(tmp_path, "ann.7z")

    assert (
        f"{tmp_path / 'ann.7z'} is a file that is not read (only zip, tar and tar.gz archives are read); "
        "wanted the folder that holds the submissions"
    ) == refusal(tmp_path / "ann.7z")


def test_find_archives_that_are_not_read_are_named(tmp_path):
    """Homework in them must not be missed; what `only` left out is no such thing."""
    write(tmp_path, "ann/mix.py", "bob.7z", "cyd.tar.xz", "dan.zip", "eve.rar/mix.py", "grades.csv")

    found = find_submissions(tmp_path, FILES, only="ann")

    reason = "only zip, tar and tar.gz archives are read; unpack it first"
    assert {"bob.7z": reason, "cyd.tar.xz": reason} == unread_archives(tmp_path, found)


def test_find_archive_beside_the_folder_it_was_unpacked_to_is_no_submission(tmp_path):
    """Who unpacks a class beside its archive means the folder, and is told about the archive."""
    write(tmp_path, "class.zip", "class/ann/mix.py", "class/bob.zip", "class/cyd.rar")

    found = find_submissions(tmp_path, FILES)

    assert ["ann", "bob"] == [one.id for one in found]
    assert {
        "class.zip": "the submissions are taken from the folder class; move it there",
        "cyd.rar": "only zip, tar and tar.gz archives are read; unpack it first",
    } == unread_archives(tmp_path, found)


def test_find_archive_beside_a_single_students_folder_leaves_the_folder_whole(tmp_path):
    """One student handed in two attempts as folders, another an archive: that is a class of two."""
    write(tmp_path, "ann/first/mix.py", "ann/second/mix.py", "bob.zip")

    assert ["ann", "bob"] == ids(tmp_path)


# --- hostile folders --------------------------------------------------------------------------------------------


def test_find_folder_that_is_closed_is_found_and_stops_nobody(as_nobody):
    """What a student's folder holds is asked here only to tell a class from a submission."""
    write(as_nobody, "all/ann/mix.py", "all/bob/mix.py", "all/cyd/mix.py")
    (as_nobody / "all" / "ann").chmod(0)

    assert ["ann", "bob", "cyd"] == ids(as_nobody / "all")
    assert ["ann", "bob", "cyd"] == ids(as_nobody)


def test_find_folder_of_the_staffs_that_is_closed_says_so(as_nobody):
    """There is nothing to grade, and no traceback."""
    (as_nobody / "all").mkdir(mode=0)

    assert f"{as_nobody / 'all'} cannot be read: Permission denied" == refusal(as_nobody / "all")


@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "\u202egnp", "-rf", "x" * 255, "<b>", "\udcff", " "])
def test_find_odd_names_are_found(tmp_path, name):
    """What may stand in a name stands in an id, spelt out where UTF-8 has no sign for it."""
    write(tmp_path, f"{name}/mix.py", "ann/mix.py")

    assert sorted(["ann", clean_text(name)]) == ids(tmp_path)


def test_find_folder_with_one_notebook_is_one_submission(tmp_path):
    """Of whatever name; copies of it, and folders without homework, change nothing."""
    write(tmp_path, "ann/hw.ipynb", "ann/hw-Copy1.ipynb", "ann/data/table.csv")

    assert ["ann"] == ids(tmp_path / "ann")


def test_find_folder_with_a_notebook_called_like_a_stub_is_one_submission(tmp_path):
    """One notebook a part."""
    write(tmp_path, "ann/mix.ipynb", "ann/Scale-Up.ipynb", "ann/data/table.csv")

    assert ["ann"] == ids(tmp_path / "ann")


def test_find_notebooks_are_submissions_named_without_their_suffix(tmp_path):
    """Beside folders and archives, and of a class that hands in nothing else."""
    write(
        tmp_path,
        "all/ann/mix.py",
        "all/bob.zip",
        "all/cleo.ipynb",
        "all/cleo/mix.py",
        "only/ann.ipynb",
        "only/bob.ipynb",
    )

    found = find_submissions(tmp_path / "all", FILES)

    assert [("ann", False), ("bob", False), ("cleo", False), ("cleo (2)", True)] == [
        (one.id, one.is_notebook) for one in found
    ]
    assert ["ann", "bob"] == ids(tmp_path / "only")


def test_find_folders_with_notebooks_are_a_class(tmp_path):
    """Also below one folder more."""
    write(tmp_path, "class/ann/hw.ipynb", "class/bob/mix.ipynb", "class/bob/x.ipynb")

    assert (["ann", "bob"], ["ann", "bob"]) == (ids(tmp_path), ids(tmp_path / "class"))


def test_find_notebook_that_is_named_is_one_submission(tmp_path):
    """As an archive is."""
    write(tmp_path, "ann.v2.ipynb")

    found = find_submissions(tmp_path / "ann.v2.ipynb", FILES)

    assert [("ann.v2", tmp_path / "ann.v2.ipynb", True)] == [(one.id, one.path, one.is_notebook) for one in found]


def test_find_notebook_that_is_a_link_is_found_once(tmp_path):
    """For whoever reads it to refuse."""
    write(tmp_path, "ann/mix.py")
    (tmp_path / "bob.ipynb").symlink_to("gone")

    assert ["ann", "bob"] == ids(tmp_path)
