"""A roster's file: everybody's columns, and every fault with its line."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.fault import Fault
from grader.handed_in import Person
from grader.roster.read import read_roster
from grader.sheet import SheetError


@pytest.fixture
def roster(tmp_path):
    """Reads a roster with this content."""

    def read(content):
        path = tmp_path / "roster.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_roster(path)

    return read


@pytest.fixture
def refusal(roster, tmp_path):
    """What is said of a roster that cannot be read, without the folder it is in."""

    def refused(content):
        with pytest.raises(Fault) as error:
            roster(content)
        return str(error.value).replace(f"{tmp_path}/", "")

    return refused


CANVAS = """\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Late (7),HW4 Attention (98765),Final Score
    Points Possible,,,,,1,100,(read only)
,,,,,Muted,,
"Ångström, Zoë",12,S1,zang,"CS-1 and CS-2",,,
"Student, Test",99,,x,CS-1,,,
"""
MOODLE = "First name;Surname;Email address;ID number;Groups\nZoë;Ångström;zoe@uni.example;S1;Team Blue, Lab 2\n"
WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Last modified (submission)\n"
    'Participant 12,Zoë Ångström,zoe@uni.example,Submitted,,"Sunday, 1 March 2026, 9:30 AM"\n'
)
GRADESCOPE = "First Name,Last Name,SID,Email,Section\nZoë,Ångström,S1,zoe@uni.example,CS-1\n"
CLASSROOM = '"identifier","github_username","github_id","name"\n"zoe@uni.example","zoe-a","5","Zoë Ångström"\n'
CLASSROOM_50 = "username,first_name,last_name,email,section,github_id\nzoe-a,Zoë,Ångström,zoe@uni.example,1,5\n"


@pytest.mark.parametrize(
    ("content", "email", "ids", "logins"),
    [
        (CANVAS, "", ("12", "S1"), ("zang",)),
        (MOODLE, "zoe@uni.example", ("S1",), ()),
        (WORKSHEET, "zoe@uni.example", ("12", "Participant 12"), ()),
        (GRADESCOPE, "zoe@uni.example", ("S1",), ()),
        (CLASSROOM, "zoe@uni.example", (), ("zoe-a",)),
        (CLASSROOM_50, "zoe@uni.example", (), ("zoe-a",)),
    ],
    ids=["canvas", "moodle", "worksheet", "gradescope", "classroom", "classroom50"],
)
def test_roster_of_a_platform_is_read_as_it_is(roster, content, email, ids, logins):
    """One student, by what each platform knows; rows and columns that are no student's are passed by."""
    (entry,) = roster(content).entries

    assert ("Zoë Ångström", email) == (entry.person.name, entry.person.email)
    assert (ids, logins) == (entry.ids, entry.logins)


def test_roster_of_ones_own_has_times_and_extensions(roster):
    """Heads in any spelling, tabs or semicolons, empty lines, cells that are left out."""
    people = roster(
        "E-Mail\tsubmitted at\tExtension Days\textension_hours\tLATE\r\n\r\n"
        "ada@uni.example\t2026-03-01T09:30:00Z\t2\t1,5\tyes\r\n\t\t\r\nbob@uni.example\r\n"
    )

    ada, bob = people.entries
    assert (3, Person(email="ada@uni.example")) == (ada.line, ada.person)
    assert (datetime(2026, 3, 1, 9, 30, tzinfo=UTC), 49.5, True) == (ada.submitted_at, ada.extension_hours, ada.is_late)
    assert (5, None, 0, None) == (bob.line, bob.submitted_at, bob.extension_hours, bob.is_late)


def test_roster_time_without_a_zone_is_this_machines_and_is_said_to_be(roster):
    """A guess, and named as one."""
    people = roster("email,submitted_at\nada@uni.example,2026-03-01 09:30\n")

    assert datetime(2026, 3, 1, 9, 30).astimezone() == people.entries[0].submitted_at
    assert people.remarks[0].startswith("times without a zone are taken as those of this machine")


def test_roster_same_line_twice_is_one_person(roster):
    """In two sections, as some exports have it."""
    people = roster("name,id,section\nKim Lee,7,A\nKim Lee,7,B\nKim Lee,8,A\n")

    assert [2, 4] == [entry.line for entry in people.entries]
    assert ("line 3 repeats line 2, and is left out",) == people.remarks


def test_roster_cell_over_several_lines_does_not_move_the_others(roster, refusal):
    """A line is counted where it begins."""
    people = roster('name,id\n"Lee,\nKim",7\nBob Roe,8\n')

    assert [(2, "Kim Lee"), (4, "Bob Roe")] == [(entry.line, entry.person.name) for entry in people.entries]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "roster.csv is empty; wanted a line with the names of the columns"),
        ("name,email\n", "roster.csv holds nobody: there is no line below the names of the columns"),
        (
            "\nscore,grade\n1,2\n",
            "roster.csv, line 2: no column says who somebody is (got score, grade); wanted one of",
        ),
        ("name,Full Name\na,b\n", "roster.csv, line 1: two columns say name ('name' and 'Full Name'); rename one"),
        ("name,id\nDoe, Jane,7\n", "roster.csv, line 2: 3 cells, where the head has 2; a text that holds the sign"),
        ("name,section\nada,1\n,2\n", "roster.csv, line 3: nothing says who this is; wanted a name, an e-mail"),
        ('name\n"ada\nbob\n', "roster.csv, line 2: unexpected end of data; look for a quotation mark"),
        ("name,id\nAda,7\nBob,7\n", "roster.csv, line 3: id 7 is that of line 2 too, and the rest differs; leave one"),
        ("name,email\nA,x@y\nB,X@Y\n", "roster.csv, line 3: email x@y is that of line 2 too"),
        ("name,days\nAda,two\n", "roster.csv, line 2, extension_days: got 'two', wanted a number, 0 or more"),
        ("name,hours\nAda,-1\n", "roster.csv, line 2, extension_hours: got '-1', wanted a number, 0 or more"),
        ("name,hours\nAda,nan\n", "roster.csv, line 2, extension_hours: got 'nan', wanted a number, 0 or more"),
        ("name,late\nAda,maybe\n", "roster.csv, line 2, late: got 'maybe', wanted yes or no"),
        ("name,submitted\nAda,soon\n", "roster.csv, line 2, submitted_at: got 'soon', wanted a time like 2026-03-01T"),
        (
            "name\nAda\nZoë\n".encode("latin-1"),
            "roster.csv, line 3: byte 0xeb is not UTF-8; the file is perhaps Latin-1",
        ),
        (
            "name\nAda\n".encode("utf-16"),
            "roster.csv is no CSV file in UTF-8; save it in the spreadsheet as 'CSV UTF-8'",
        ),
        (b"PK\x03\x04", "roster.csv is no CSV file in UTF-8; save it in the spreadsheet as 'CSV UTF-8'"),
    ],
)
def test_roster_fault_is_told_with_its_line(refusal, content, said):
    """What a person can do about it, instead of a student who goes missing."""
    assert refusal(content).startswith(said)


def test_roster_that_is_not_there_is_told(tmp_path):
    """Its name, and what was wanted."""
    with pytest.raises(SheetError, match="No such file or directory; wanted a table, as a CSV file"):
        read_roster(tmp_path / "roster.csv")


def test_roster_without_an_end_is_refused():
    """A device says that it holds nothing, and gives whatever is asked for."""
    with pytest.raises(SheetError, match="more than 16 MiB"):
        read_roster(Path("/dev/zero"))
