"""The roll of a class: who is missing from it, and whose the entries of a report are."""

from datetime import UTC, datetime

import pytest
from class_files import STUBS, as_zip, zipped
from conftest import write_files
from sample_course import write_course
from sample_report import make_header, make_submission

from grader.handed_in import HandIn, Person, TimeSource
from grader.roll import Roll, call_roll, head, sign
from grader.stage import stage

ROSTER = "name,email,login\nAda Lovelace,ada@uni.example,ada\nZoë Å,zoe@uni.example,\n"


@pytest.fixture
def roster(tmp_path):
    """A roster of two."""
    path = tmp_path / "roster.csv"
    path.write_text(ROSTER)
    return path


def test_roll_of_a_class_says_who_is_missing(tmp_path, roster):
    """And joins the others."""
    write_files(tmp_path / "all", {"ada/mix.py": "", "eve/mix.py": ""})

    with call_roll(tmp_path / "all", STUBS, roster) as roll:
        assert ("Submissions: 2 folders", 2, "roster.csv") == (roll.summary, roll.on_roster, roll.roster)
        assert (["Zoë Å"], ("eve",)) == ([person.name for person in roll.missing], roll.strangers)


def test_roll_of_one_submission_misses_nobody(tmp_path, roster):
    """The others were not asked for; the name is known all the same."""
    write_files(tmp_path / "ada", {"mix.py": ""})

    with call_roll(tmp_path / "ada", STUBS, roster) as roll:
        assert ((), 0, "") == (roll.missing, roll.on_roster, roll.roster)
        assert ["Ada Lovelace"] == [person.name for person in roll.submissions[0].people]


def test_roll_with_the_roster_of_another_class_misses_nobody(tmp_path, roster):
    """No page says that all are there, or that all are not; the terminal says why."""
    write_files(tmp_path / "all", {"bob/mix.py": "", "eve/mix.py": ""})

    with call_roll(tmp_path / "all", STUBS, roster) as roll:
        assert ((), (), 0, "") == (roll.missing, roll.strangers, roll.on_roster, roll.roster)
        assert "it may be another class's" in roll.remarks[0]


def test_roll_entry_whose_submission_is_gone_is_not_missing():
    """It is in the report that goes on."""
    ada, zoe = Person(name="Ada", email="ada@uni.example"), Person(name="Zoë")
    roll = Roll(summary="Submissions: 1 folder", submissions=(), roster="r.csv", on_roster=2, missing=(ada, zoe))

    header = head(make_header(), roll, [make_submission(people=[Person(name="A", email="ada@uni.example")])])

    assert (zoe,) == header.missing
    assert ("Submissions: 1 folder", "r.csv", 2) == (header.imported, header.roster, header.on_roster)


def test_roll_signs_what_was_handed_in_and_leaves_what_is_gone(tmp_path, roster):
    """People and time of an entry are those of its submission."""
    write_files(tmp_path / "all", {"ada/mix.py": "", "eve/mix.py": ""})
    when = HandIn(source=TimeSource.GIT, time=datetime(2026, 3, 1, tzinfo=UTC))
    gone = make_submission(id="gone", people=[Person(name="Gone")], handed_in=when)

    with call_roll(tmp_path / "all", STUBS, roster) as roll:
        signed = sign(make_submission(id="ada", people=[Person(name="of old")]), roll.by_id)

        assert ["Ada Lovelace"] == [person.name for person in signed.people]
        assert gone == sign(gone, roll.by_id)


def test_roll_damaged_archive_in_a_zip_is_the_same_the_next_time(tmp_path):
    """What is unpacked anew has another place, and that is nobody's business."""
    damaged = zipped({"mix.py": "x"})[:-20]
    path = as_zip(tmp_path / "class.zip", {"leekim_7_100_hw.zip": damaged, "roe_8_101_mix.py": "x"})
    assignment = write_course(tmp_path / "course").assignment("tiny")

    def files():
        with call_roll(path, STUBS, None) as roll:
            return stage(roll.by_id["leekim_7"], assignment).files

    first = files()
    assert ["hw.zip"] == [file.name for file in first]
    assert first == files()
