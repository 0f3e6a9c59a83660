"""`overrides.csv`: what staff decided, whom it is for, and what is said of a line that cannot be meant."""

from decimal import Decimal
from types import SimpleNamespace

import pytest
from sample_report import HOSTILE

from grader.handed_in import Person
from grader.overrides import OverrideError, match_overrides, must_know_checks, read_overrides

HEAD = "student,check,points,reason\n"
CHECKS = {"double.values": Decimal(2), "double.gradients": Decimal(1), "halve.values": Decimal(1)}


@pytest.fixture
def read(tmp_path):
    """Read lines below the head, of an assignment of four points."""

    def overrides(*lines):
        file = tmp_path / "overrides.csv"
        file.write_text(HEAD + "".join(f"{line}\n" for line in lines), encoding="utf-8")
        return read_overrides(file, Decimal(4))

    return overrides


@pytest.fixture
def refusal(read, tmp_path):
    """What is said of lines when they are read, held against the checks, and matched; without the folder."""

    def told(*lines, submissions=()):
        with pytest.raises(OverrideError) as refused:
            overrides = read(*lines)
            must_know_checks(overrides, CHECKS)
            match_overrides(overrides, submissions)
        return str(refused.value).removeprefix(f"{tmp_path}/overrides.csv, ")

    return told


def handed(id, *people):
    """A submission, as far as it matters whose it is."""
    return SimpleNamespace(id=id, people=people)


ADA = handed("sub-1", Person(name="Ada Müller", email="ada@example.org", lms_id="100", login="amueller"))
LI = handed("sub-2", Person(name="李 伟", email="li@example.org", lms_id="101"))
GROUP = handed("team-7", Person(name="Bo", login="bo"), Person(name="Cy", login="cy"))


# --- the lines --------------------------------------------------------------------------------------------------


def test_overrides_lines_are_read(read):
    """A check and a total, points as people write them, a reason on one line."""
    first, second = read("ada,double.values,1.5,fair", 'bob,Total,"3,25","late, but\nsick"')

    assert ("ada", "double.values", Decimal("1.5"), "fair") == (first.student, first.check, first.points, first.reason)
    assert (None, "total", Decimal("3.25"), "late, but sick") == (
        second.check,
        second.what,
        second.points,
        second.reason,
    )


@pytest.mark.parametrize(
    "points", ["-1", "+1", "two", "nan", "inf", "1e3", "1,000", "1.005", "½", "١", "1 2", "0x1", "12345678"]
)
def test_overrides_points_that_are_no_number_are_refused(refusal, points):
    """Whatever Python would take for one; three decimals may be meant as thousands."""
    told = refusal("bob,total,1,ok", f'ada,total,"{points}",x')

    assert told == (
        f"line 3: {points!r} is no number of points; wanted one from 0 on, with two decimals at most, such as 2.5"
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (",total,1,x", "line 2: no student; wanted one"),
        ("ada,,1,x", "line 2: no check; wanted one"),
        ("ada,total,,x", "line 2: no points; wanted one"),
        ("ada,total,1,", "line 2: no reason; wanted why, for the student to read"),
        ("ada,total,4.01,x", "line 2: 4.01 points for total, where there are 4; wanted 0 to 4"),
        ("ada,double.values,2.5,x", "line 2: 2.5 points for double.values, where there are 2; wanted 0 to 2"),
        (
            "ada,double.value,1,x",
            "line 2: no check is called 'double.value'; wanted its id or 'total'; did you mean double.values?",
        ),
        (
            "ada,all,1,x",
            "line 2: no check is called 'all'; wanted its id or 'total'; the checks are double.values, "
            "double.gradients, halve.values",
        ),
    ],
)
def test_overrides_line_that_cannot_be_meant_is_refused(refusal, line, told):
    """The message says in which line, what was found and what was wanted."""
    assert told == refusal(line)


def test_overrides_two_lines_for_the_same_are_refused(refusal):
    """Neither is guessed to be the one that counts."""
    told = refusal("ada,total,1,x", "ada,double.values,1,x", "ada,total,2,y")

    assert "line 4: total of 'ada' is decided already in line 2; leave one" == told


def test_overrides_two_names_of_one_student_are_the_same(refusal):
    """What counts is whose submission it is."""
    told = refusal("sub-1,total,1,x", "ada@example.org,total,2,y", submissions=[ADA])

    assert "line 3: total of 'ada@example.org' is decided already in line 2; leave one" == told


# --- whose they are ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["sub-1", "SUB-1", "ada@example.org", "Ada@Example.org", "amueller", "100", "Ada Müller", "ada  mu\u0308ller"],
)
def test_overrides_student_is_found_by_any_name(read, name):
    """Id, e-mail, login, number or name; capitals, blanks and ways to write an umlaut do not count."""
    matched = match_overrides(read(f"{name},total,1,x"), [LI, ADA])

    assert (["sub-1"], ()) == (list(matched.by_id), matched.remarks)


def test_overrides_id_goes_before_other_names(read):
    """A folder may be called like somebody else's number."""
    matched = match_overrides(read("100,total,1,x"), [ADA, handed("100")])

    assert ["100"] == list(matched.by_id)


def test_overrides_ids_that_differ_in_capitals_are_two(read):
    """Each is found by its own spelling."""
    matched = match_overrides(read("Ada,total,1,x", "ada,total,2,y"), [handed("ada"), handed("Ada")])

    assert {"Ada": 1, "ada": 2} == {id: one.points for id, (one,) in matched.by_id.items()}


def test_overrides_name_of_two_students_is_refused(refusal):
    """A person says which one, before anything is graded."""
    submissions = [handed("sub-3", Person(name="Li Wei")), handed("sub-4", Person(name="li wei"))]

    told = refusal("Li Wei,total,1,x", submissions=submissions)

    assert "line 2: 'Li Wei' fits several submissions (sub-3, sub-4); write the id of one of them" == told


def test_overrides_unknown_student_is_a_remark_with_near_names(read, tmp_path):
    """The submission may come later; the line is not lost, and not silent."""
    matched = match_overrides(read("amuller,total,1,x", "zoe,total,1,x"), [ADA, LI])

    assert {} == matched.by_id
    assert (
        f"{tmp_path}/overrides.csv, line 2: no submission is of 'amuller' (near: sub-1); left out",
        f"{tmp_path}/overrides.csv, line 3: no submission is of 'zoe'; left out",
    ) == matched.remarks


def test_overrides_of_a_group_say_that_all_get_them(read, tmp_path):
    """A line names one of them, and a submission has one score."""
    matched = match_overrides(read("bo,total,1,x"), [GROUP])

    assert (f"{tmp_path}/overrides.csv, line 2: team-7 is the work of 2 people, all get it",) == matched.remarks


def test_overrides_messages_have_no_power_over_a_terminal(read):
    """A folder can be called anything, and a near name is quoted."""
    hostile = handed(HOSTILE, Person(name="near"), Person(name="far"))

    remarks = match_overrides(read("neer,total,1,x", "far,total,1,x"), [hostile]).remarks

    assert 2 == len(remarks)
    assert [] == [character for remark in remarks for character in "\x1b\u202e\u200b" if character in remark]
