"""Finding the course, and the assignment that some files answer."""

import pytest
from sample_course import ASSIGNMENT, write_course

from grader.assignment import AssignmentError
from grader.course import Course, CourseError, find_course


@pytest.fixture
def course(tmp_path):
    """A course of one assignment, `tiny`."""
    return write_course(tmp_path)


def add_assignment(course, name, *parts):
    """A second assignment with these parts."""
    folder = course.folder / "assignments" / name
    folder.mkdir()
    sections = [
        f'[[parts]]\nname = "{part}"\ntitle = "T"\npoints = 1\n[parts.callables.f]\nkind = "function"\n'
        f'arguments = []\nreturns = ["x"]\nreference = "tiny:mix"\n'
        for part in parts
    ]
    (folder / "assignment.toml").write_text('title = "Other"\n' + "\n".join(sections), encoding="utf-8")


def refusal(action, *arguments):
    """What the user is told."""
    with pytest.raises(CourseError) as refused:
        action(*arguments)
    return str(refused.value)


@pytest.mark.parametrize("below", [".", "assignments", "assignments/tiny/checks", "reference"])
def test_course_is_found_from_any_folder_in_it(course, below):
    """Walking up ends at the folder that holds both."""
    assert Course(course.folder.resolve()) == find_course(course.folder / below)


def test_course_folder_with_assignments_alone_is_none(tmp_path):
    """What a course publishes is not the course; the text says what to do."""
    (tmp_path / "assignments").mkdir()

    assert (
        f"{tmp_path.resolve()} is in no course: neither it nor a folder above holds assignments/ and reference/; "
        "change to the course's folder, or name it with --course"
    ) == refusal(find_course, tmp_path)


def test_course_names_are_the_folders_with_an_assignment_file(course):
    """In order; a folder without the file does not count."""
    add_assignment(course, "alpha", "a")
    (course.folder / "assignments" / "drafts").mkdir()

    assert ["alpha", "tiny"] == course.names


def test_course_assignment_is_read_by_name(course):
    """The folder's name is the assignment's."""
    assert "Tiny" == course.assignment("tiny").title


def test_course_misspelt_assignment_offers_a_near_match(course):
    """Nobody has to look the name up."""
    assert (
        f"no assignment is called 'tinny' in {course.folder / 'assignments'}; did you mean tiny?"
    ) == refusal(course.assignment, "tinny")  # fmt: skip


def test_course_unknown_assignment_lists_what_there_is(course):
    """Nothing is near: all names are shown."""
    assert (
        f"no assignment is called 'zzz' in {course.folder / 'assignments'}; there are: tiny"
    ) == refusal(course.assignment, "zzz")  # fmt: skip


def test_course_assignment_outside_of_it_is_no_name(course):
    """A path is not a name, even of a folder that holds one."""
    assert refusal(course.assignment, "../assignments/tiny").startswith("no assignment is called")


def test_course_invalid_assignment_is_told_as_such(course):
    """A fault in the file is not hidden behind a missing name."""
    (course.folder / "assignments/tiny/assignment.toml").write_text(ASSIGNMENT.replace("6", "x"), encoding="utf-8")

    with pytest.raises(AssignmentError, match="not valid TOML"):
        course.assignment("tiny")


def test_course_only_assignment_is_meant_whatever_the_files_are_called(course):
    """There is nothing to choose."""
    assert "tiny" == course.assignment_for(["unknown.py"]).name


def test_course_assignment_for_files_is_the_one_that_most_match(course):
    """A file that both ask for does not decide; capitals do not matter."""
    add_assignment(course, "other", "mix", "weigh")

    assert "tiny" == course.assignment_for(["mix.py", "Scale.PY"]).name
    assert "other" == course.assignment_for(["mix.py", "weigh.py"]).name


def test_course_most_submissions_decide_between_assignments(course):
    """A stray file of another week does not turn the folder."""
    add_assignment(course, "other", "weigh")

    assert "tiny" == course.assignment_for(["mix.py", "mix.py", "weigh.py"]).name


def test_course_tie_is_an_error_that_names_both(course):
    """The grader does not guess."""
    add_assignment(course, "other", "mix")

    assert (
        "the files match these assignments equally well: other, tiny; say which one with -a"
    ) == refusal(course.assignment_for, ["mix.py"])  # fmt: skip


def test_course_tie_is_settled_by_what_the_files_define(course):
    """Two assignments have a stub of one name, and ask for other functions in it."""
    add_assignment(course, "other", "mix")
    ours, theirs = "def mix(x): ...\ndef gate(x): ...", "import torch\ndef f(x): ...\ndef mix(x): ..."

    assert "other" == course.assignment_for(["mix.py"], lambda: [theirs]).name
    assert "tiny" == course.assignment_for(["mix.py"], lambda: [ours, ours, theirs]).name


def test_course_files_that_match_nothing_are_an_error_that_lists_all(course):
    """With several assignments, strange files need a word."""
    add_assignment(course, "other", "weigh")

    assert (
        "the files match no assignment; there are: other, tiny; say which one with -a"
    ) == refusal(course.assignment_for, ["x.py"])  # fmt: skip


def test_course_without_assignments_says_what_one_is(tmp_path):
    """An empty course is told how to begin."""
    (tmp_path / "assignments").mkdir()
    (tmp_path / "reference").mkdir()

    assert (
        f"{tmp_path / 'assignments'} holds no assignment (a folder with assignment.toml)"
    ) == refusal(Course(tmp_path).assignment_for, [])  # fmt: skip
    assert refusal(Course(tmp_path).assignment, "tiny").endswith("; there are: none")
