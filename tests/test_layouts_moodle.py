"""A Moodle download in its three forms, of teams, and with blind marking."""

import unicodedata

import pytest
from class_files import read_both, read_folder, zipped

from grader.handed_in import Person

FORMS = {
    "folders": "{}_assignsubmission_file/mix.py",
    "older folders": "{}_assignsubmission_file_/mix.py",
    "flat": "{}_assignsubmission_file_mix.py",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_moodle_each_form_gives_the_same_submissions(tmp_path, form):
    """Name and number of the participant, two of one name apart, names as people write them."""
    found = read_folder(
        tmp_path,
        {form.format(who): who for who in ("Zoë Ångström_12", "Kim Lee_7", "Kim Lee_8", "de la Cruz-O'Neil Ana_9")},
    )

    assert {
        "Zoë Ångström_12": {"mix.py": "Zoë Ångström_12"},
        "Kim Lee_7": {"mix.py": "Kim Lee_7"},
        "Kim Lee_8": {"mix.py": "Kim Lee_8"},
        "de la Cruz-O'Neil Ana_9": {"mix.py": "de la Cruz-O'Neil Ana_9"},
    } == found.files
    assert (Person(name="Zoë Ångström", lms_id="12"),) == found.found["Zoë Ångström_12"].people


def test_moodle_flat_file_keeps_its_own_underscores(tmp_path):
    """Only the first mark is Moodle's; what follows may be a student's joke."""
    found = read_folder(tmp_path, {"Kim Lee_7_assignsubmission_file_a_9_assignsubmission_file_mix.py": "x"})

    assert {"Kim Lee_7": {"a_9_assignsubmission_file_mix.py": "x"}} == found.files


@pytest.mark.parametrize("accents", ["NFC", "NFD"])
def test_moodle_id_does_not_depend_on_how_a_disk_writes_accents(tmp_path, accents):
    """A Mac unpacks the same name to other characters."""
    name = unicodedata.normalize(accents, "Zoë Ångström_12_assignsubmission_file/mix.py")

    found = read_both(tmp_path, {name: "x"})

    assert ["Zoë Ångström_12"] == list(found.found)


def test_moodle_archive_in_a_folder_is_unpacked(tmp_path):
    """A student who handed in one zip; what lies open beside it counts first."""
    found = read_folder(
        tmp_path,
        {
            "Kim Lee_7_assignsubmission_file/hw.zip": zipped({"hw/mix.py": "packed", "hw/scale_up.py": "packed"}),
            "Kim Lee_7_assignsubmission_file/mix.py": "open",
        },
    )

    assert {"mix.py": "open", "scale_up.py": "packed"} == found.files["Kim Lee_7"]
    assert ["hw.zip/hw/mix.py was not read: of two, the one handed in as mix.py counts"] == found.notes["Kim Lee_7"]


def test_moodle_text_is_noted_beside_files_and_alone(tmp_path):
    """It is not read, and its student is not forgotten."""
    found = read_folder(
        tmp_path,
        {
            "Kim Lee_7_assignsubmission_onlinetext/onlinetext.html": "<p>",
            "Kim Lee_7_assignsubmission_file/mix.py": "x",
            "Bob Roe_8_assignsubmission_onlinetext_onlinetext.html": "<p>",
        },
    )

    assert {"Kim Lee_7": {"mix.py": "x"}, "Bob Roe_8": {}} == found.files
    assert ["handed in in Moodle itself as a text (Kim Lee_7_assignsubmission_onlinetext); not read"] == found.notes[
        "Kim Lee_7"
    ]


def test_moodle_teams_are_submissions(tmp_path):
    """The default team has no number."""
    found = read_both(
        tmp_path,
        {"Team Blue_3_assignsubmission_file/mix.py": "blue", "Default group_assignsubmission_file/mix.py": "rest"},
    )

    assert "Moodle download: 2 students or teams, a folder each" == found.summary
    assert {"Team Blue_3": {"mix.py": "blue"}, "Default group": {"mix.py": "rest"}} == found.files


@pytest.mark.parametrize("word", ["Participant", "Teilnehmerin"])
def test_moodle_blind_marking_names_nobody(tmp_path, word):
    """The same word for all, in whatever language, is no name; the number is what a worksheet knows."""
    found = read_folder(tmp_path, {f"{word}_{number}_assignsubmission_file/mix.py": "x" for number in (1, 2)})

    assert "Moodle download: 2 students or teams, a folder each, without names (blind marking)" == found.summary
    assert (Person(lms_id="1"),) == found.found[f"{word}_1"].people
