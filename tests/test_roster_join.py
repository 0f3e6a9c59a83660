"""Whose submission is whose, who is missing, and what is left to a person."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.find import Found
from grader.handed_in import HandIn, Person, TimeSource
from grader.roster.join import join
from grader.roster.read import Entry, Roster

WHEN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
LATER = datetime(2026, 3, 2, tzinfo=UTC)


def roster(*people, **fields):
    """A roster of these people, on lines 2, 3, ...; fields of its entries by name are lists."""
    entries = []
    for number, person in enumerate(people):
        own = {name: values[number] for name, values in fields.items()}
        ids = own.pop("ids", (person.lms_id,) if person.lms_id else ())
        logins = (person.login,) if person.login else ()
        entries.append(Entry(line=number + 2, person=person, ids=ids, logins=logins, **own))
    return Roster(name="roster.csv", entries=tuple(entries))


def submission(id, *people, **fields):
    """A submission of people, as a platform names them."""
    return Found(id=id, path=Path(id), people=people, **fields)


def owners(joined):
    """Names of the people of each submission, as far as the roster knows them."""
    return {
        one.id: [person.name for person in one.people] for one in joined.submissions if one.id not in joined.strangers
    }


ADA = Person(name="Ada Lovelace", email="ada@uni.example", lms_id="11", login="lovelace")
ZOE = Person(name="Zoë Ångström", email="zang@uni.example", lms_id="12")
KIM = Person(name="Kim Lee", email="kim.lee@uni.example", lms_id="13")
OTHER_KIM = Person(name="Kim Lee", email="kl@uni.example", lms_id="14")


@pytest.mark.parametrize(
    "found",
    [
        submission("lovelaceada_11", Person(lms_id="11")),
        submission("x", Person(name="A. L.", email="ADA@uni.example")),
        submission("hw1-lovelace", Person(login="Lovelace")),
        submission("Ada Lovelace_99", Person(name="Ada Lovelace", lms_id="99")),
        submission("lovelaceada_99", Person(lms_id="99")),
        submission("lovelace"),
        submission("hw1-lovelace"),
        submission("ada@uni.example"),
        submission("11"),
        submission("ada"),
        submission("ada_lovelace"),
        submission("Lovelace, Ada"),
    ],
    ids=lambda found: found.id,
)
def test_join_finds_somebody_by_whatever_there_is(found):
    """Number, address, login, name in either order, and what a folder is called."""
    joined = join([found], roster(ADA, ZOE))

    assert {found.id: ["Ada Lovelace"]} == owners(joined)
    assert (ZOE,) == joined.missing


@pytest.mark.parametrize("id", ["Zoë Ångström", "Zoe Angstrom", "zoe-angstrom", "ÅNGSTRÖM Zoë", "angstromzoe"])
def test_join_finds_a_name_without_its_accents(id):
    """Keyboards and platforms leave them out."""
    assert {id: ["Zoë Ångström"]} == owners(join([submission(id)], roster(ADA, ZOE)))


def test_join_number_of_the_platform_goes_before_the_schools():
    """One student's school number is another's number on the platform."""
    people = roster(ADA, ZOE, ids=[("7", "8"), ("8", "7")])

    joined = join([submission("a_7", Person(lms_id="7")), submission("z_8", Person(lms_id="8"))], people)

    assert {"a_7": ["Ada Lovelace"], "z_8": ["Zoë Ångström"]} == owners(joined)


def test_join_two_of_one_name_on_the_roster_are_left_to_a_person():
    """A number tells them apart; where there is none, nobody guesses."""
    joined = join([submission("leekim_13", Person(lms_id="13")), submission("Kim Lee")], roster(KIM, OTHER_KIM, ADA))

    assert {"leekim_13": ["Kim Lee"]} == owners(joined)
    assert ("Kim Lee",) == joined.strangers
    assert (OTHER_KIM, ADA) == joined.missing
    assert ("roster.csv: Kim Lee: lines 2 and 3 have that name; nobody was chosen",) == joined.remarks


def test_join_two_submissions_of_one_name_are_left_to_a_person():
    """Only one of them can be the one on the roster."""
    found = [
        submission("Kim Lee_5", Person(name="Kim Lee", lms_id="5")),
        submission("Kim Lee_6", Person(name="Kim Lee")),
    ]

    joined = join([*found, submission("ada")], roster(KIM, ADA))

    assert ("Kim Lee_5", "Kim Lee_6") == joined.strangers
    assert ("roster.csv: Kim Lee_5 and Kim Lee_6 have one name, that of line 2; nobody was chosen",) == joined.remarks


def test_join_number_and_address_of_two_students_choose_neither():
    """A slip in the roster, or a number that by chance is another's there."""
    found = submission("x_11", Person(name="Zoë Ångström", lms_id="11", email="zang@uni.example"))

    joined = join([found, submission("kim.lee")], roster(ADA, ZOE, KIM))

    assert ("x_11",) == joined.strangers
    assert ("roster.csv: x_11: line 2 has its number and line 3 has its e-mail address; nobody was chosen",) == (
        joined.remarks
    )


def test_join_contradicted_submission_is_no_groups_either():
    """Its name may be one, but who it is was told, and told wrongly."""
    found = submission("Lab", Person(lms_id="11", email="zang@uni.example"))

    joined = join([found, submission("kim.lee")], roster(ADA, ZOE, KIM, groups=[("Lab",), (), ("Lab",)]))

    assert ("Lab",) == joined.strangers


def test_join_name_of_somebody_with_a_submission_by_number_is_anothers():
    """A stranger who is called like a student does not become that student."""
    joined = join([submission("k", Person(name="Kim Lee")), submission("13", Person(lms_id="13"))], roster(KIM))

    assert ("k",) == joined.strangers
    assert {"13": ["Kim Lee"]} == owners(joined)
    assert "somebody else's of that name" in joined.remarks[0]


def test_join_two_submissions_by_number_are_both_somebodys_and_told():
    """A folder and an archive of one student."""
    joined = join([submission("lovelace"), submission("ada@uni.example")], roster(ADA))

    assert {"lovelace": ["Ada Lovelace"], "ada@uni.example": ["Ada Lovelace"]} == owners(joined)
    assert ("roster.csv: Ada Lovelace (line 2) has 2 submissions: ada@uni.example, lovelace",) == joined.remarks


def test_join_user_of_a_clone_is_the_longest_that_fits():
    """Where the assignment's name ends is a guess; a shorter user is somebody else."""
    people = [Person(name="Right", login="a-x"), Person(name="Wrong", login="x")]

    joined = join([submission("hw1-a-x", Person(login="x"))], roster(*people))

    assert {"hw1-a-x": ["Right"]} == owners(joined)
    assert "a-x" == joined.submissions[0].people[0].login


def test_join_group_is_everybody_in_it():
    """Who is not on the roster stays in the group, and is told."""
    group = submission("g", Person(email="ada@uni.example"), Person(name="Eve Stray"), Person(lms_id="12"))

    joined = join([group], roster(ADA, ZOE, KIM))

    assert {"g": ["Ada Lovelace", "Eve Stray", "Zoë Ångström"]} == owners(joined)
    assert (KIM,) == joined.missing
    assert ("roster.csv: g: Eve Stray of that group is not on it",) == joined.remarks


def test_join_submission_called_after_a_group_is_its_members():
    """Moodle and Canvas name a team, the roster its people."""
    people = roster(ADA, ZOE, KIM, groups=[("Team Blue",), ("Lab", "team blue"), ("Lab",)])
    found = submission("Team Blue_3", Person(name="Team Blue", lms_id="3"))

    joined = join([found], people)

    assert {"Team Blue_3": ["Ada Lovelace", "Zoë Ångström"]} == owners(joined)
    assert (KIM,) == joined.missing


def test_join_platforms_number_stays_and_the_rosters_name_counts():
    """What grades are sent back with is the platform's."""
    (found,) = join(
        [submission("x", Person(name="ada l", email="ada@uni.example", lms_id="99"))], roster(ADA)
    ).submissions

    assert (Person(name="Ada Lovelace", email="ada@uni.example", lms_id="99", login="lovelace"),) == found.people


def test_join_roster_of_another_class_accuses_nobody():
    """Nobody is missing where nobody fits."""
    joined = join([submission("anon_x1", Person(lms_id="anon_x1"))], roster(ADA, ZOE))

    assert ((), ()) == (joined.missing, joined.strangers)
    assert joined.remarks[0].startswith("roster.csv: nobody on it has handed in any of these submissions")


@pytest.mark.parametrize(
    ("said", "fields", "expected"),
    [
        (None, {}, None),
        (HandIn(source="git", time=WHEN), {}, HandIn(source="git", time=WHEN)),
        (
            HandIn(source="platform", is_marked_late=True),
            {"extension_hours": [24.0]},
            HandIn(source="platform", is_marked_late=True, extension_hours=24),
        ),
        (
            HandIn(source="platform", is_marked_late=True),
            {"submitted_at": [WHEN]},
            HandIn(source="roster", time=WHEN),
        ),
        (
            HandIn(source="platform", time=WHEN),
            {"is_late": [True]},
            HandIn(source="roster", time=WHEN, is_marked_late=True),
        ),
        (HandIn(source="platform", is_marked_late=True), {"is_late": [False]}, HandIn(source="roster")),
        (HandIn(source="git", time=WHEN), {"is_late": [False]}, HandIn(source="roster")),
        (None, {"extension_hours": [1.0]}, HandIn(source="roster", extension_hours=1)),
    ],
)
def test_join_rosters_time_goes_before_the_platforms(said, fields, expected):
    """A time makes a mark meaningless; an extension leaves both as they are."""
    (found,) = join([submission("ada", handed_in=said)], roster(ADA, **fields)).submissions

    assert expected == found.handed_in


def test_join_group_has_its_longest_extension_and_last_time():
    """What one of them was granted counts for the work of all."""
    group = submission("g", Person(lms_id="11"), Person(lms_id="12"))
    people = roster(ADA, ZOE, extension_hours=[0.0, 48.0], submitted_at=[LATER, WHEN])

    (found,) = join([group], people).submissions

    assert HandIn(source=TimeSource.ROSTER, time=LATER, extension_hours=48) == found.handed_in
