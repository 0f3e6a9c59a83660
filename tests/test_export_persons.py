"""Whose row is whose: a wrong row is worse than none."""

import pytest
from sample_people import ADA, BO, JANE_ONE, JANE_TWO, submission_of

from grader.export.persons import Listed, owners_of, place
from grader.handed_in import Person


def listed(row, name="", *, numbers=(), login="", email=""):
    """A row of a gradebook."""
    return Listed(row=row, label=f"row {row}", numbers=numbers, logins=(login,), emails=(email,), names=(name,))


def placed(rows, *groups, chosen=None):
    """Rows by label of the owner, and reasons by label, for submissions of these people."""
    submissions = [submission_of(f"s{number}", 50, people) for number, people in enumerate(groups)]
    places = place(owners_of(submissions[:chosen]), owners_of(submissions), rows)
    found = {owner.person.label: row for row, owner in places.placed.items()}
    return found, {owner.label: reason for owner, reason in places.unplaced}


def test_place_by_number_wins_over_a_namesake():
    """Two of one name are told apart by what they do not share."""
    rows = [listed(1, "Doe, Jane", numbers=("106",)), listed(2, "Doe, Jane", numbers=("105",))]

    assert ({"Jane Doe": 2}, {}) == placed(rows, [JANE_ONE])


def test_place_by_name_that_two_have_places_nobody():
    """Nobody guesses which of them it is."""
    rows = [listed(1, "Doe, Jane"), listed(2, "Doe, Jane")]

    assert ({}, {"Jane Doe (s0)": "may be row 1 and row 2"}) == placed(rows, [Person(name="Jane Doe")])


def test_place_two_people_of_one_name_share_no_row():
    """One of them has left; which is not known, and neither gets the row."""
    found, reasons = placed([listed(1, "Doe, Jane")], [Person(name="Jane Doe")], [Person(name="Jane Doe")])

    assert {} == found
    assert {"row 1 is in several submissions (s0, s1); choose one with --student"} == set(reasons.values())


def test_place_somebody_who_has_left_gets_no_namesakes_row():
    """The numbers of this report are those of this gradebook, so one that is not there is nobody's."""
    rows = [listed(1, "Lindqvist, Ada", numbers=("101",)), listed(2, "Doe, Jane", numbers=("106",))]

    assert ({"Ada Lindqvist": 1}, {"Jane Doe (s1)": "has no row (looked for by number)"}) == placed(
        rows, [ADA], [JANE_ONE]
    )


def test_place_one_chosen_submission_is_placed_as_all_of_them_would_be():
    """What the numbers mean is learned from everybody."""
    rows = [listed(1, "Lindqvist, Ada", numbers=("101",)), listed(2, "Doe, Jane", numbers=("106",))]

    assert ({}, {"Jane Doe (s0)": "has no row (looked for by number)"}) == placed(rows, [JANE_ONE], [ADA], chosen=1)


def test_place_numbers_of_another_platform_are_passed_over():
    """No number of the report is one of this gradebook: the address decides."""
    rows = [listed(1, "Lindqvist, Ada", numbers=("9001",), email="ADA@uni.example")]

    assert ({"Ada Lindqvist": 1}, {}) == placed(rows, [ADA])


def test_place_believes_the_column_of_numbers_that_fits_most():
    """A school's number that is by chance somebody else's number on the platform leads nobody astray."""
    rows = [
        listed(1, "x", numbers=("7", "101")),
        listed(2, "y", numbers=("101", "102")),
        listed(3, "z", numbers=("8", "105")),
    ]

    assert {"Ada Lindqvist": 1, "Bo Ångström": 2, "Jane Doe": 3} == placed(rows, [ADA], [BO], [JANE_ONE])[0]


def test_place_number_and_login_that_contradict_place_nobody():
    """A roster with a slip in it."""
    rows = [listed(1, numbers=("101",)), listed(2, numbers=("102",), login="alindqvist")]

    assert ({}, {"Ada Lindqvist (s0)": "is one row by number and another by login"}) == placed(rows, [ADA])


def test_place_group_has_a_row_for_each():
    """One submission, several people."""
    rows = [listed(1, numbers=("101",)), listed(2, numbers=("102",)), listed(3, numbers=("106",))]

    assert ({"Ada Lindqvist": 1, "Bo Ångström": 2}, {}) == placed(rows, [ADA, BO])


def test_place_person_in_two_submissions_is_placed_by_neither():
    """Alone and in a group: staff say which counts."""
    rows = [listed(1, numbers=("101",)), listed(2, numbers=("106",))]

    found, reasons = placed(rows, [ADA], [ADA, JANE_TWO])

    assert {"Jane Doe": 2} == found
    assert {"Ada Lindqvist (s0)", "Ada Lindqvist (s1)"} == set(reasons)


@pytest.mark.parametrize("name", ["alindqvist", "ALindqvist", "lindqvist_ada", "Ada Lindqvist", "101", "ada@uni.ex"])
def test_place_folder_without_people_stands_for_what_its_name_may_mean(name):
    """A plain folder named by login, name, number or address."""
    rows = [listed(1, "Lindqvist, Ada", numbers=("101",), login="alindqvist", email="ada@uni.ex"), listed(2, "x")]

    places = place(*[owners_of([submission_of(name, 50)])] * 2, rows)

    assert [1] == list(places.placed)


def test_place_folder_name_that_means_two_rows_is_nobodys():
    """One's login is another's number."""
    rows = [listed(1, numbers=("101",)), listed(2, numbers=("102",), login="101")]

    places = place(*[owners_of([submission_of("101", 50)])] * 2, rows)

    assert ["may be row 1 and row 2"] == [reason for _, reason in places.unplaced]
