"""What a run leaves on the disk: whole files, a journal that survives its writer, and what an earlier run finished."""

import json
import os
import resource
import signal
import subprocess
import sys

import pytest
from conftest import wait_until, write_files
from sample_report import make_header, make_submission, sample_class

from grader.adjustment import Adjustment
from grader.report_json import ReportError, from_json, to_json
from grader.store import Store, StoreError

#: A point that staff gave.
OVERRIDE = Adjustment(kind="override", points=1, reason="fair")
#: Replaces one file again and again, with one of two texts.
WRITER = """
import sys
from pathlib import Path
from grader.store import Store
store = Store(Path(sys.argv[1]))
while True:
    for letter in "ab":
        store.write("page.html", letter * 1_000_000)
"""


@pytest.fixture
def store(tmp_path):
    """A store in a folder that is not there yet."""
    return Store(tmp_path / "report")


def begun(store, *ids):
    """The store, with a journal of these submissions."""
    store.begin(make_header(), [])
    for one in ids:
        store.add(make_submission(id=one))
    return store


# --- pages ------------------------------------------------------------------------------------------------------


def test_store_pages_of_another_run_are_removed(store):
    """A student who has left the class has no page; other people's files stay."""
    write_files(store.folder, {"students/ada.html": "", "students/gone.html": "", "students/notes.txt": ""})

    store.keep_only("students", {"ada.html"})

    assert ["ada.html", "notes.txt"] == sorted(path.name for path in (store.folder / "students").iterdir())


def test_store_torn_pages_are_removed(store):
    """What a killed run left in the middle of a write."""
    write_files(store.folder, {"students/ada.html": "", "students/.x8f.tmp": ""})

    store.keep_only("students", {"ada.html"})

    assert ["ada.html"] == [path.name for path in (store.folder / "students").iterdir()]


# --- the folder -------------------------------------------------------------------------------------------------


def test_store_new_folder_is_usable(store):
    """A folder that is not there is made when the run begins."""
    store.must_be_usable()
    begun(store)

    assert store.is_used


def test_store_empty_folder_is_usable(tmp_path):
    """A folder may be made beforehand."""
    store = Store(tmp_path)

    store.must_be_usable()

    assert not store.is_used


def test_store_folder_that_is_a_file_is_refused(tmp_path):
    """The message says what is wrong and which option to change."""
    file = tmp_path / "report"
    file.write_text("")

    with pytest.raises(StoreError, match="report is a file; wanted a folder for the reports"):
        Store(file).must_be_usable()


def test_store_folder_of_other_things_is_refused(tmp_path):
    """A person's own files are never mixed with reports."""
    write_files(tmp_path, {"thesis.tex": ""})

    with pytest.raises(StoreError, match="is not empty and holds no report"):
        Store(tmp_path).must_be_usable()


def test_store_folder_of_overrides_is_usable(tmp_path):
    """Staff may put their decisions there before the first run."""
    write_files(tmp_path, {"overrides.csv": ""})

    Store(tmp_path).must_be_usable()


def test_store_overrides_outlive_a_run(store):
    """No run writes or removes what staff wrote."""
    write_files(store.folder, {"overrides.csv": "mine"})

    begun(store, "ada").finish(make_header())
    store.clear_journal()
    store.keep_only("", set())

    assert "mine" == store.overrides.read_text()


@pytest.mark.parametrize("is_finished", [True, False])
def test_store_tells_whether_the_earlier_run_holds_overrides(store, is_finished):
    """In a report as in a journal; a student who prints such a line has none."""
    begun(store)
    store.add(make_submission(notes=('"kind": "override"', '"kind":"override"')))
    before = store.holds_overrides()
    store.add(make_submission(id="bob", score=1, final_score=2, adjustments=[OVERRIDE]))
    if is_finished:
        store.finish(make_header())
        store.clear_journal()

    assert (False, True) == (before, store.holds_overrides())


def test_store_folder_that_a_killed_run_left_is_usable(tmp_path):
    """A run killed while it wrote its first file leaves half of that, which is in nobody's way."""
    write_files(tmp_path, {".abc123.tmp": "half"})

    Store(tmp_path).must_be_usable()


def test_store_folder_in_use_is_refused_to_another_run_and_free_afterwards(store):
    """The second run touches nothing; the lock leaves nothing behind."""
    store.folder.mkdir()
    with store.locked():
        with pytest.raises(StoreError, match="is in use by another run of grade"), Store(store.folder).locked():
            pass
        assert [".lock"] == os.listdir(store.folder)

    assert [] == os.listdir(store.folder)
    with Store(store.folder).locked():
        store.must_be_usable()


@pytest.mark.parametrize("has_begun", [True, False])
def test_store_folder_made_for_nothing_is_removed(store, has_begun):
    """A run that is refused after all leaves no empty folder; one that began leaves its journal."""
    with store.locked():
        if has_begun:
            begun(store, "ada")

    assert has_begun is store.folder.exists()


def test_store_lock_of_a_killed_run_holds_nobody_up(tmp_path):
    """The file may stay; what counts ended with its process."""
    write_files(tmp_path, {".lock": ""})

    with Store(tmp_path).locked():
        Store(tmp_path).must_be_usable()


# --- the journal ------------------------------------------------------------------------------------------------


def test_store_journal_gives_back_what_was_added(store):
    """Header and entries come back equal."""
    begun(store, "ada", "bob")

    earlier = store.earlier()

    assert make_header() == earlier.header
    assert {one: make_submission(id=one) for one in ("ada", "bob")} == earlier.submissions


def test_store_journal_keeps_the_entries_of_an_earlier_run(store):
    """What is kept is in the journal from its first moment."""
    store.begin(make_header(), [make_submission(id="ada")])

    assert ["ada"] == list(store.earlier().submissions)


def test_store_journal_is_read_by_id(store):
    """The order in which submissions were finished shows nowhere."""
    begun(store, "cyd", "ada", "bob")

    assert ["ada", "bob", "cyd"] == [entry.id for entry in store.submissions()]


def test_store_journal_later_entry_of_a_submission_counts(store):
    """A submission that was graded again has its last entry."""
    begun(store, "ada")
    store.add(make_submission(id="ada", notes=("again",)))

    (entry,) = store.submissions()

    assert ("again",) == entry.notes


@pytest.mark.parametrize("torn", ['{"id": "bob', '{"id": "bob"', "{", "\0\0\0"])
def test_store_journal_torn_last_line_is_dropped(store, torn):
    """All that a killed writer leaves of an entry is no entry."""
    begun(store, "ada")
    with open(store.journal, "a") as journal:
        journal.write(torn)

    assert ["ada"] == list(store.earlier().submissions)


@pytest.mark.parametrize("damage", ["half a line\n", "{}\n", "[]\n", "\0\0\n"])
def test_store_journal_damaged_line_is_dropped(store, damage):
    """A line that is no entry costs its own submission, which is graded again, and no other."""
    begun(store, "ada")
    with open(store.journal, "a") as journal:
        journal.write(damage)
    store.add(make_submission(id="bob"))

    assert ["ada", "bob"] == list(store.earlier().submissions)


def test_store_journal_entry_of_another_version_is_named(store):
    """A whole entry that does not fit the records is no accident, and the message leads to it."""
    begun(store)
    with open(store.journal, "a") as journal:
        journal.write('{"id": "ada", "marks": 5}\n')

    with pytest.raises(ReportError, match=r"journal\.jsonl, .*marks"):
        store.earlier()


@pytest.mark.parametrize("first", ["", "{}\n", "half a header\n", "\0\0\0"])
def test_store_journal_without_a_header_is_named(store, first):
    """A journal that tells neither seed nor versions cannot be continued."""
    begun(store)
    store.journal.write_text(first)

    with pytest.raises(ReportError, match="no header in its first line"):
        store.earlier()


def test_store_journal_counts_before_an_older_report(store):
    """A run that replaces a report, and is interrupted, goes on from its own journal."""
    begun(store, "ada")
    store.finish(make_header())
    begun(store, "bob")

    assert ["bob"] == list(store.earlier().submissions)


def test_store_journal_newline_in_a_students_text_stays_one_line(store):
    """A message of several lines, or a name with a newline, is one line of the journal."""
    store.begin(make_header(), [])
    store.add(make_submission(id="a\nb\u2028c", notes=("one\r\ntwo\x85",)))
    store.add(make_submission(id="bob"))

    assert ["a\nb\u2028c", "bob"] == list(store.earlier().submissions)


def test_store_entry_that_does_not_fit_the_disk_leaves_no_half_of_it(store):
    """The journal ends with a whole line, and the error names it."""
    begun(store, "ada")
    before = store.journal.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, limits[1]))
    try:
        with pytest.raises(OSError, match=r"journal\.jsonl"):
            store.add(make_submission(id="bob"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert before == store.journal.read_bytes()


# --- report.json ------------------------------------------------------------------------------------------------


def test_store_report_is_the_journal_by_id(store):
    """The report is what its records print, whatever order they came in."""
    report = sample_class()
    store.begin(make_header(), reversed(report.submissions))

    store.finish(make_header())

    assert sorted(one.id for one in report.submissions) == [
        one["id"] for one in json.loads(store.report.read_text())["submissions"]
    ]
    assert to_json(from_json(store.report.read_bytes(), "report.json")) == store.report.read_text()


def test_store_finished_report_gives_back_what_was_finished(store):
    """Without a journal, the report says what is done."""
    begun(store, "ada")
    store.finish(make_header())
    store.clear_journal()

    assert {"ada": make_submission(id="ada")} == store.earlier().submissions


def test_store_nothing_there_is_no_earlier_run(store):
    """A first run continues nothing."""
    assert store.earlier() is None


# --- writing ----------------------------------------------------------------------------------------------------


def test_store_write_makes_folders_and_readable_files(store):
    """A page can be read by whoever serves it."""
    store.write("students/ada.html", ["<p>", "é"])

    path = store.folder / "students/ada.html"
    assert ("<p>é", 0o644) == (path.read_text(encoding="utf-8"), path.stat().st_mode & 0o777)


def test_store_write_that_fails_keeps_the_old_file(store):
    """Half a page never replaces a whole one, and leaves nothing beside it."""

    def pieces():
        yield "half"
        raise OSError("no more")

    store.write("index.html", "whole")

    with pytest.raises(OSError, match="no more"):
        store.write("index.html", pieces())

    assert ["index.html"] == os.listdir(store.folder)
    assert "whole" == (store.folder / "index.html").read_text()


def test_store_finished_run_clears_what_killed_ones_left(store):
    """Beside the report as well as among the pages."""
    begun(store, "ada")
    write_files(store.folder, {".x8f.tmp": "half"})
    store.finish(make_header())

    store.clear_journal()

    assert ["report.json"] == os.listdir(store.folder)


def test_store_write_killed_at_any_moment_leaves_a_whole_file(store):
    """Whoever reads while a page is replaced, or after its writer was killed, reads one text or the other."""
    path = store.folder / "page.html"
    with subprocess.Popen([sys.executable, "-c", WRITER, store.folder]) as writer:
        wait_until(path.exists, "the first page is written")
        seen = {path.read_text() for _ in range(200)}
        writer.send_signal(signal.SIGKILL)

    seen.add(path.read_text())

    assert {"a" * 1_000_000, "b" * 1_000_000} >= seen
