"""How people are called, and what certain means where somebody is looked for."""

from types import SimpleNamespace

import pytest

from grader.handed_in import Person
from grader.people.called import Called
from grader.people.clue import Clue, Contradiction, Index, follow
from grader.people.spelling import forms_in_either_order, keys_of, letters_of, name_forms


def clue(way, *found):
    """Whom a way leads to."""
    return Clue(way=way, found=found)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Doe, Jane", "Jane Doe"),
        ("Doe, Jane", "doejane"),
        ("Doe, Jane", "DOE,JANE"),
        ("Åström, Zoë", "Zoe\u0308 A\u030astro\u0308m"),
        ("van der Berg, Anna-Maria", "Anna Maria van der Berg"),
        ("王, 小明", "小明王"),
        ("O'Hara, Zoe", "Zoe O’Hara"),
    ],
)
def test_names_of_one_person_share_a_form(one, other):
    """As Canvas sorts them, as people write them, as downloads are named, in whatever Unicode form."""
    assert set(name_forms(one)) & set(name_forms(other))


def test_names_that_are_turned_round_are_two_people():
    """Only a comma says which name is the family's."""
    assert not set(name_forms("Li Wei")) & set(name_forms("Wei Li"))


def test_names_in_either_order_share_a_form_without_a_comma():
    """As folders are named, by people who do not think of a comma."""
    assert set(forms_in_either_order("Li Wei")) & set(forms_in_either_order("Wei Li"))


def test_letters_keep_no_signs_blanks_or_capitals():
    """What is left of a name in a download."""
    assert "zoëoharaß7" == letters_of(" Zoe\u0308 O'HARA-ẞ_7 ").replace("ss", "ß")


def test_keys_of_nothing_are_none():
    """Two people without a login do not share one."""
    assert ("ada",) == keys_of("", " ", "Ada", "ADA ")


def test_index_finds_each_once_in_its_order():
    """Somebody with two of the keys is one."""
    index = Index([(1, ["a", "b"]), (2, ["b", ""])])

    assert ((1, 2), (2, 1), ()) == (index.find(["a", "b"]), index.find(["b"])[::-1], index.find(["", "c"]))


def test_follow_takes_the_surest_that_leads_anywhere():
    """A later one that leads to the same and others is no contradiction."""
    assert (1,) == follow([clue("number"), clue("login", 1), clue("address", 2, 1)])
    assert () == follow([clue("number"), clue("login")])


def test_follow_contradicting_clues_choose_nobody():
    """A slip in a roster is told with both its sides."""
    found = follow([clue("number", 1), clue("login", 1), clue("address", 2)])

    assert Contradiction(first=clue("number", 1), against=(clue("address", 2),)) == found


@pytest.mark.parametrize("name", ["s1", "S1", "ADA@uni.example", "Kovač, Ada", "ada  kovač", "adakovač", "alk", "17"])
def test_called_finds_a_submission_by_any_name_of_its_people(name):
    """Whatever staff know a student by."""
    submission = SimpleNamespace(
        id="s1", people=(Person(name="Ada Kovač", email="ada@uni.example", login="ALK", lms_id="17"),)
    )

    assert ("s1",) == Called([SimpleNamespace(id="s2", people=()), submission]).find(name)
